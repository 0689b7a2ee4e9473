import{b as a,c as b}from"./chunk-SHEXVE4H.js";import"./chunk-FLCJ6DWT.js";import"./chunk-TKRLKHWU.js";import"./chunk-B4QOLK7Y.js";export{b as Growing,a as Markdown};
