import{c as a,d as b}from"./chunk-MSZZ257U.js";import"./chunk-U76CG3O7.js";import"./chunk-RKM3NH4I.js";export{b as Growing,a as Markdown};
