// Reads the document that stands in the page, and draws it.

const data = JSON.parse(document.getElementById("data").textContent);
if (data.comparison) comparePage(data);
else runPage(data);
