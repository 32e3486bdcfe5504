using System.Reflection;
using System.Runtime.InteropServices;
using Corfu.Server;

namespace Corfu.Hosting;

/// <summary>Describes this process to operators' tools. A report that is asked for while one is made, or within a
/// second of it, is the same one: its cost does not depend on the number of askers.</summary>
internal sealed class ProcessReporter(NodeOptions node, ClusterTls? tls, RoleRegistry registry, TimeProvider time)
{
    private static readonly TimeSpan Lifetime = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private readonly DateTimeOffset _started = time.GetUtcNow();

    // Guarded by _gate.
    private Task<ProcessReport>? _report;
    private long _asked;

    /// <summary>Set once the node has its roles.</summary>
    public Func<ImmutableArray<string>> Warnings { get; set; } = static () => [];

    /// <summary>Set once the node has its agent.</summary>
    public Agent.DenyList? Denied { get; set; }

    /// <summary>Version of this build.</summary>
    public static string Build { get; } =
        typeof(ProcessReporter).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()
            ?.InformationalVersion ?? "unknown";

    /// <summary>Off the caller's thread: a file system that hangs must not stop an agent.</summary>
    public Task<ProcessReport> ReadAsync()
    {
        lock (_gate)
        {
            var isFresh = _report is { IsCompleted: false }
                || (_report is { IsCompletedSuccessfully: true } && time.GetElapsedTime(_asked) < Lifetime);
            if (isFresh) return AtAsync(_report!);
            _asked = time.GetTimestamp();
            _report = LoopContext.Pool.RunAsync(() => Task.FromResult(Read()));
            return AtAsync(_report);
        }
    }

    // The clock is read for each asker, who compares it with others.
    private async Task<ProcessReport> AtAsync(Task<ProcessReport> report) =>
        (await report) with { Now = time.GetUtcNow() };

    private ProcessReport Read() => new()
    {
        Name = node.Name,
        Build = Build,
        Platform = $"{RuntimeInformation.FrameworkDescription}; {RuntimeInformation.OSDescription}",
        LowestProtocol = WireProtocol.Current.Lowest,
        HighestProtocol = WireProtocol.Current.Highest,
        Started = _started,
        OpenFiles = HostFacts.OpenFiles(),
        OpenFileLimit = HostFacts.OpenFileLimit(),
        Memory = Environment.WorkingSet,
        MemoryLimit = HostFacts.MemoryLimit(),
        Swapped = HostFacts.Swapped(),
        IsInsecure = node.Insecure,
        Disks = [.. Folders().Select(HostFacts.DiskOf)],
        Tls = tls?.Mode ?? TlsMode.Off,
        Certificates = NodeTls.ReportsOf(tls),
        Identities = registry.DescribePeers(),
        Warnings = Warnings(),
        DeniedCertificates = Denied?.Entries.Length ?? 0,
        DeniedDigest = Denied?.Digest ?? 0,
    };

    private IEnumerable<string> Folders() =>
        node.Roles.Select(role => role.Folder).Append(Path.GetDirectoryName(node.ConfigFile)).OfType<string>()
            .Select(Path.GetFullPath).Distinct().Take(ProcessReport.MaxItems);
}
