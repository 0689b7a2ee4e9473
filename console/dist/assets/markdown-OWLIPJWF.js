import{c as a,d as b}from"./chunk-CERLVYWD.js";import"./chunk-UOZRHXYK.js";import"./chunk-MHBLLGE2.js";export{b as Growing,a as Markdown};
