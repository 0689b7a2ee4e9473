import{c as a,d as b}from"./chunk-KCRKNBXN.js";import"./chunk-TKRLKHWU.js";import"./chunk-B4QOLK7Y.js";export{b as Growing,a as Markdown};
