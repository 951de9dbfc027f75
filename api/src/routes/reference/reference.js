// Shows the document with Swagger UI. It asks no other host: the validator's badge is off, and so is reading
// settings from the page's address.
window.ui = SwaggerUIBundle({
  url: "/v1/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  queryConfigEnabled: false,
  validatorUrl: null,
  persistAuthorization: false,
  displayOperationId: true,
  defaultModelsExpandDepth: 0,
  docExpansion: "none",
  tryItOutEnabled: false,
});
