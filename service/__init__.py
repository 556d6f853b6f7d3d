"""Ways in for people and programs: command line, later HTTP and MCP."""
