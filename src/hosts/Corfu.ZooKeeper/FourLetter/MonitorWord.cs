using System.Globalization;
using System.Text;

namespace Corfu.ZooKeeper.FourLetter;

/// <summary>The word <c>mntr</c>: a name, a tab and a value a line.</summary>
internal static class MonitorWord
{
    public static string Text(ServerFacts facts)
    {
        var text = new StringBuilder();
        Add(text, "version", StatusWords.Version);
        Add(text, "server_state", facts.Mode);
        Add(text, "min_latency", facts.Requests.Shortest);
        Add(text, "avg_latency", facts.Requests.Average);
        Add(text, "max_latency", facts.Requests.Longest);
        Add(text, "packets_received", facts.Requests.Received);
        Add(text, "packets_sent", facts.Requests.Sent);
        Add(text, "num_alive_connections", facts.Connections.Length);
        Add(text, "outstanding_requests", facts.Requests.Waiting);
        Add(text, "znode_count", facts.Nodes);
        Add(text, "watch_count", facts.Watches);
        Add(text, "ephemerals_count", facts.Ephemerals);
        Add(text, "approximate_data_size", facts.DataBytes);
        Add(text, "global_sessions", facts.Sessions);
        if (facts.Mode != ServerMode.Leader) return text.ToString();
        Add(text, "followers", facts.Followers);
        Add(text, "synced_followers", facts.Followers);
        return text.ToString();
    }

    private static void Add<T>(StringBuilder text, string name, T value) =>
        text.Append(CultureInfo.InvariantCulture, $"zk_{name}\t{value}\n");
}
