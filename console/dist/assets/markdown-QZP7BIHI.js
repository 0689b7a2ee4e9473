import{b as a,c as b}from"./chunk-2DJLXFMW.js";import"./chunk-SS3YUPWI.js";import"./chunk-VSAYFOZX.js";import"./chunk-SG7PFYSF.js";export{b as Growing,a as Markdown};
