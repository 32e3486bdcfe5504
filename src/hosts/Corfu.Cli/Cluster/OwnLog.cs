namespace Corfu.Cli;

/// <summary>The log of nodes beside it, in a folder of theirs: named by its connection string, or a new one in
/// DIR/log.</summary>
internal static class OwnLog
{
    /// <summary>The folder of the nodes' own log, in theirs.</summary>
    public const string Name = "log";

    /// <summary>The authority of the own log, if there is one. An operator may have put it elsewhere: nodes keep what
    /// they have then.</summary>
    public static string? AuthorityOf(string path)
    {
        var folder = ClusterCertificates.AuthorityOf(Path.Combine(path, Name));
        return CertificateAuthority.Exists(folder) ? folder : null;
    }

    /// <summary>The connection string of the log. An own one is started.</summary>
    /// <param name="path">The nodes' folder.</param>
    /// <param name="known">The log that the nodes of the folder belong to; null: there are no nodes yet.</param>
    /// <param name="given">The log that the operator has named.</param>
    /// <param name="tls">A new own log gets TLS.</param>
    public static async Task<string> StartAsync(string path, string? known, string? given, bool tls,
        NodeCommandLine self, CancellationToken cancellationToken)
    {
        if (tls && (given ?? known) is { } plain && !Connections.Parse(plain).IsTls)
            throw new UsageException($"The log {plain} has no TLS. New nodes in a new folder can have their own log.");
        if (given is not null && known is not null && given != known)
            throw new UsageException($"The nodes in {path} belong to the log {known}, and not to {given}.");
        if (given is not null) return Connections.Parse(given).ToString();
        var own = Path.Combine(path, Name);
        if (known is not null && !ClusterFolder.Exists(own)) return known;
        var state = await new ProcessCluster(self).UpAsync(own, new ClusterShape { Tls = tls }, cancellationToken);
        return state.Verdict.IsServing
            ? state.ConnectionString
            : throw new NodeStartException(string.Join('\n', [.. state.Problems, state.Verdict.ToString()]));
    }

    /// <summary>Stops the own log, if there is one.</summary>
    /// <returns>The names of the nodes stopped.</returns>
    public static async Task<ImmutableArray<string>> StopAsync(
        string path, NodeCommandLine self, CancellationToken cancellationToken)
    {
        var own = Path.Combine(path, Name);
        return ClusterFolder.Exists(own) ? await new ProcessCluster(self).DownAsync(own, cancellationToken) : [];
    }
}
