#!/usr/bin/env python3
"""Talks to an MCP server on stdio with the official client, for tests.

  mcp_client.py COMMAND [ARGUMENT...] < request.json

The request is {"mode": "legacy" or "auto", "cwd": FOLDER, "env": {NAME: VALUE}, "calls": [[TOOL, {ARGUMENTS}], ...]}. It prints
{"server": NAME, "protocol": VERSION, "tools": [{"name", "description", "schema"}], "results": [{"is_error", "text", "structured"}]}.
"""
import asyncio
import json
import sys

from mcp import Client, StdioServerParameters

READ_TIMEOUT_SECONDS = 60


async def talk(command, arguments, request):
    server = StdioServerParameters(command=command, args=arguments, cwd=request["cwd"], env=request["env"])
    async with Client(server, mode=request["mode"], read_timeout_seconds=READ_TIMEOUT_SECONDS) as client:
        tools = (await client.list_tools()).tools
        results = [await client.call_tool(name, values) for name, values in request["calls"]]
        return {
            "server": client.server_info.name,
            "protocol": client.protocol_version,
            "tools": [{"name": t.name, "description": t.description, "schema": t.input_schema} for t in tools],
            "results": [
                {
                    "is_error": bool(r.is_error),
                    "text": "\n".join(block.text for block in r.content if block.type == "text"),
                    "structured": r.structured_content,
                }
                for r in results
            ],
        }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(talk(sys.argv[1], sys.argv[2:], json.load(sys.stdin)))))
