import{b as a,c as b}from"./chunk-UFLPRTSY.js";import"./chunk-MH5FL6O3.js";import"./chunk-GNGVN5UE.js";import"./chunk-KQ45VFER.js";export{b as Growing,a as Markdown};
