import{c as a,d as b}from"./chunk-P6KTSDAM.js";import"./chunk-KTFY5P2E.js";import"./chunk-GXWQ3PFK.js";import"./chunk-AU6EMMME.js";export{b as Growing,a as Markdown};
