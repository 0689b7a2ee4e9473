var r=e=>e.toLowerCase().replace(/[^a-z0-9]+/g,"-").slice(0,64).replace(/^-+|-+$/g,"");export{r as a};
