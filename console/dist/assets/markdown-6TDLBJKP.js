import{c as a,d as b}from"./chunk-3X7UQOFA.js";import"./chunk-LRUYO77X.js";import"./chunk-UFPZFXVL.js";import"./chunk-CJF6Q5V3.js";export{b as Growing,a as Markdown};
