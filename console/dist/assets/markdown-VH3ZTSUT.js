import{c as a,d as b}from"./chunk-5DXNMS72.js";import"./chunk-5JDZTRTX.js";import"./chunk-HSX7JW5X.js";export{b as Growing,a as Markdown};
