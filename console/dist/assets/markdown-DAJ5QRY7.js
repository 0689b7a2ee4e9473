import{c as a,d as b}from"./chunk-KL7GCH2S.js";import"./chunk-SS3YUPWI.js";import"./chunk-VSAYFOZX.js";import"./chunk-SG7PFYSF.js";export{b as Growing,a as Markdown};
