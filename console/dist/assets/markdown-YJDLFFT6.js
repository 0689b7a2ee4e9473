import{c as a,d as b}from"./chunk-4WREYQUZ.js";import"./chunk-KZJ3QHZS.js";import"./chunk-TIRDCLVN.js";export{b as Growing,a as Markdown};
