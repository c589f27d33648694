"""The router: answers a query with an executable, field-exact plan from one snapshot."""
