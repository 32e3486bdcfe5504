using System.Globalization;
using System.Text;

namespace Corfu.ZooKeeper.FourLetter;

/// <summary>The words <c>srvr</c>, <c>stat</c> and <c>cons</c>. Parsers want ZooKeeper's order of lines.</summary>
internal static class StatusWords
{
    public const string Version = "3.9.0-tango, built on 2026-01-01 00:00 UTC";

    public static string Server(ServerFacts facts) => $"Zookeeper version: {Version}\n" + Figures(facts);

    public static string ServerAndClients(ServerFacts facts) =>
        $"Zookeeper version: {Version}\nClients:\n{Clients(facts)}{Figures(facts)}";

    /// <summary>A line for each client, and an empty one.</summary>
    public static string Clients(ServerFacts facts)
    {
        var text = new StringBuilder();
        foreach (var client in facts.Connections)
        {
            text.Append(CultureInfo.InvariantCulture,
                $" /{client.Peer}[1](queued={client.Waiting},recved={client.Received},sent={client.Sent})\n");
        }

        return text.Append('\n').ToString();
    }

    private static string Figures(ServerFacts facts)
    {
        var requests = facts.Requests;
        return string.Create(CultureInfo.InvariantCulture, $"""
            Latency min/avg/max: {requests.Shortest}/{requests.Average:0.####}/{requests.Longest}
            Received: {requests.Received}
            Sent: {requests.Sent}
            Connections: {facts.Connections.Length}
            Outstanding: {requests.Waiting}
            Zxid: 0x{facts.Zxid:x}
            Mode: {facts.Mode}
            Node count: {facts.Nodes}

            """);
    }
}
