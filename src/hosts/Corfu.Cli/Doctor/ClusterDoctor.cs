namespace Corfu.Cli;

/// <param name="Connect">Connection string, or null.</param>
/// <param name="Directory">Folder of a node or a cluster, or null.</param>
/// <param name="Backup">Folder of a backup, or null.</param>
internal sealed record DoctorQuestion(string? Connect, string? Directory, string? Backup, bool BeforeUpgrade);

/// <summary>All checks of a cluster, and of the nodes' folders on this machine.</summary>
internal sealed class ClusterDoctor(IDiskMeasure disks, TimeProvider time)
{
    /// <exception cref="UsageException">Neither or both ways to the cluster are given.</exception>
    public async Task<IReadOnlyList<Finding>> LookAsync(DoctorQuestion question, CancellationToken cancellationToken)
    {
        if (question.Connect is null == question.Directory is null)
            throw new UsageException("Give either --connect C or --dir D.");
        List<Finding> findings = [];
        var folders = question.Directory is { } directory ? Open(directory, findings) : [];
        var checks = new FolderChecks(disks);
        foreach (var folder in folders) findings.AddRange(checks.Of(folder));
        if (folders.IsEmpty)
            findings.Add(Finding.Unseen("disk-sync", "cluster",
                "the time of a sync: run 'corfu doctor --dir NODE' on each machine"));
        var facts = await AskAsync(question.Connect ?? ConnectionOf(folders), folders, findings, cancellationToken);
        if (facts is not null)
        {
            findings.AddRange(ClusterChecks.Of(facts));
            findings.AddRange(ProcessChecks.Of(facts));
        }

        findings.AddRange(BackupChecks.Of(question.Backup, facts?.Projection?.Cluster, time.GetUtcNow()));
        if (question.BeforeUpgrade) findings.AddRange(UpgradeChecks.Of(facts, folders, findings));
        return findings;
    }

    private static ImmutableArray<NodeFolder> Open(string directory, List<Finding> findings)
    {
        var nodes = ImmutableArray.CreateBuilder<NodeFolder>();
        foreach (var path in NodeFolder.PathsIn(directory))
        {
            try
            {
                nodes.Add(NodeFolder.Open(path));
            }
            catch (NodeStartException e)
            {
                findings.Add(Finding.Fault("configuration", path, e.Message));
            }
        }

        return nodes.DrainToImmutable();
    }

    private static string? ConnectionOf(ImmutableArray<NodeFolder> folders)
    {
        var endpoints = folders.Select(folder => folder.Options.Listen)
            .Concat(folders.SelectMany(folder => folder.Options.Peers)).Distinct().Take(ConnectionString.MaxEndpoints)
            .Select(text => NodeEndpoint.TryParse(text, out var endpoint) ? endpoint : default)
            .Where(endpoint => endpoint.Port > 0).ToImmutableArray();
        if (endpoints.IsEmpty) return null;

        // The node's own certificate lets its user ask all.
        var options = folders[0].Options;
        var isTls = options.Tls.Folder is { Length: > 0 } && options.TlsMode != TlsMode.Off;
        return new ConnectionString(endpoints)
        {
            IsTls = isTls,
            Certificates = isTls ? options.Tls.Folder : null,
            IsInsecure = !isTls && options.Insecure,
        }.ToString();
    }

    private async Task<ClusterFacts?> AskAsync(string? connection, ImmutableArray<NodeFolder> folders,
        List<Finding> findings, CancellationToken cancellationToken)
    {
        if (connection is null) return null;
        try
        {
            await using var session = await AdminSession.OpenAsync(connection, cancellationToken);
            return await new ClusterFactsReader(session, time).ReadAsync(cancellationToken);
        }
        catch (CorfuException e)
        {
            // A node that is about to be started has nothing to answer.
            findings.Add(folders.IsEmpty || folders.Any(folder => folder.IsRunning)
                ? Finding.Fault("cluster", connection, $"{e.Message} Start its nodes, or mend the network in between")
                : Finding.Unseen("cluster", connection, e.Message));
            return null;
        }
    }
}
