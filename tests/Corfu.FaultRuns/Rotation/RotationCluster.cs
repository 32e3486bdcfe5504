using System.Diagnostics;
using Corfu.FaultRuns.Machine;
using Corfu.Hosting;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.FaultRuns.Rotation;

/// <summary>A cluster of processes behind TLS, and its operator: renews certificates, changes the authority, restarts,
/// revokes.</summary>
internal sealed class RotationCluster(UndoList undo)
{
    // Twice the interval in which processes look at their files.
    private static readonly TimeSpan Seen = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private static readonly string Tool = Path.Combine(AppContext.BaseDirectory, "corfu.dll");

    private readonly ProcessCluster _processes = new(new NodeCommandLine("dotnet", [Tool, "node", "--config"]));
    private readonly ClusterShape _shape = new() { Units = 3, Replicas = 2, Sequencers = 2, Tls = true };
    private int _authorities = 1;

    public string Folder { get; } = Path.Combine(undo.Folder, "cluster");

    /// <summary>The folder of the client that will be revoked.</summary>
    public string Marked => Path.Combine(undo.Folder, "marked");

    public ClusterFolder Open() => ClusterFolder.Open(Folder);

    public async Task<ClusterState> UpAsync(CancellationToken stop)
    {
        var state = await _processes.UpAsync(Folder, _shape, stop);
        foreach (var id in state.Nodes.Select(node => node.ProcessId).OfType<int>().Distinct())
            undo.AddProcess(id, "corfu.dll");
        return state.Problems.IsEmpty
            ? state
            : throw new RunException($"cluster up: {string.Join("; ", state.Problems)}");
    }

    public Task DownAsync() => _processes.DownAsync(Folder);

    /// <summary>A certificate of a client, for a process of its own.</summary>
    public void IssueMarked()
    {
        using var authority = CertificateAuthority.Open(ClusterCertificates.AuthorityOf(Folder));
        authority.IssueTo(Marked, new CertificateOrder(AccessRole.Client, "marked")).Dispose();
    }

    /// <summary>New keys and certificates for all, of the authority as it is.</summary>
    public async Task RenewAsync(CancellationToken stop)
    {
        using var authority = CertificateAuthority.Open(ClusterCertificates.AuthorityOf(Folder));
        foreach (var folder in Identities()) authority.Renew(folder).Dispose();
        await WaitUntilServedAsync(stop);
    }

    /// <summary>The three steps: trust both, certificates of the new one, the new one alone.</summary>
    public async Task ChangeAuthorityAsync(CancellationToken stop)
    {
        var place = ClusterCertificates.AuthorityOf(Folder);
        var before = $"{place}.{_authorities++}";
        Directory.Move(place, before);
        using var previous = CertificateFiles.ReadCertificates(Path.Combine(before, CertificateFolder.AnchorsFile))[0];
        using var authority = CertificateAuthority.Create(place, Open().Manifest.ClusterId);
        foreach (var folder in Identities()) CertificateFiles.AddAnchor(folder, authority.Certificate);
        await Task.Delay(Seen, stop);
        foreach (var folder in Identities()) authority.Renew(folder, previous: previous).Dispose();
        await WaitUntilServedAsync(stop);
        await Task.Delay(Seen, stop);
        foreach (var folder in Identities()) CertificateFiles.KeepAnchor(folder, authority.Certificate);
        await Task.Delay(Seen, stop);
    }

    /// <summary>Ends a node's process in good order, and starts it again.</summary>
    public async Task RestartAsync(string node, CancellationToken stop)
    {
        using var process = Process.GetProcessById(await ProcessOfAsync(node, stop));
        await Shell.RunAsync("kill", "-TERM", $"{process.Id}");
        var ended = process.WaitForExitAsync(stop);
        if (await Task.WhenAny(ended, Task.Delay(Limit, stop)) != ended)
            throw new RunException($"{node} does not end {Limit.TotalSeconds:0} s after SIGTERM");
        await ended;
        var state = await UpAsync(stop);
        if (!state.Verdict.IsServing) throw new RunException($"after a restart of {node}: {state.Verdict}");
    }

    public async Task<int> ProcessOfAsync(string node, CancellationToken stop) =>
        (await ClusterProbe.StateAsync(Open(), stop)).Nodes.First(own => own.Node == node).ProcessId
        ?? throw new RunException($"{node} does not run");

    /// <summary>As an operator does.</summary>
    public async Task RevokeMarkedAsync()
    {
        var (code, output) = await Shell.RunAsync("dotnet", Tool, "cert", "revoke", "--connect",
            Open().AdminConnectionString(), Path.Combine(Marked, CertificateFolder.IdentityFile));
        if (code != 0) throw new RunException($"corfu cert revoke: {output}");
    }

    /// <summary>Waits until a node refuses the revoked certificate.</summary>
    /// <returns>False if it did not within the limit.</returns>
    public async Task<bool> RefusesMarkedAsync(string node, TimeSpan limit, CancellationToken stop)
    {
        var endpoint = Open().Manifest.Nodes.First(own => own.Name == node).Endpoint;
        var clock = Stopwatch.StartNew();
        using var tls = ClusterTls.Open(new TlsOptions { Folder = Marked });
        while (true)
        {
            try
            {
                using var transport = new TcpTransport(new TcpTransportOptions { Tls = tls });
                await transport.DescribeAsync(endpoint, stop);
            }
            catch (TransportException e) when (e.Message.Contains("revoked", StringComparison.Ordinal))
            {
                return clock.Elapsed <= limit;
            }
            catch (TransportException)
            {
                // A node that was just let go on answers late.
            }

            if (clock.Elapsed > limit) return false;
            await Task.Delay(200, stop);
        }
    }

    private IEnumerable<string> Identities() => ClusterCertificates.FoldersOf(Open()).Append(Marked);

    // Every node serves with the certificate that its folder has.
    private async Task WaitUntilServedAsync(CancellationToken stop)
    {
        var clock = Stopwatch.StartNew();
        using var tls = ClusterTls.Open(new TlsOptions { Folder = ClusterCertificates.AdminOf(Folder) })!;
        foreach (var node in Open().Manifest.Nodes)
        {
            var file = Path.Combine(Folder, node.Name, "certs", CertificateFolder.IdentityFile);
            using var wanted = CertificateFiles.ReadCertificates(file)[0];
            while (await ServedCertificate.SerialAsync(node.Endpoint, tls, stop) != wanted.SerialNumber)
            {
                if (clock.Elapsed > Limit)
                    throw new RunException($"{node.Name} does not serve with its renewed certificate.");
                await Task.Delay(200, stop);
            }
        }
    }
}
