import{c as a,d as b}from"./chunk-TZZZMDBK.js";import"./chunk-GKZ3VFA4.js";import"./chunk-CJW2EU7J.js";export{b as Growing,a as Markdown};
