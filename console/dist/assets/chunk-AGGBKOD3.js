function t(i){if(i==null||i==="")return"–";let n=Number(i)*1e6;return Number.isFinite(n)?`$${n.toLocaleString("en-US",{minimumFractionDigits:2,maximumFractionDigits:n<1?4:2})}`:"–"}export{t as a};
