"""Reading, grouping and drawing sales: what the scripts share."""
