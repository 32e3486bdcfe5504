using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.GrainDirectory;
using Orleans.Runtime;

namespace Corfu.Orleans.Directories;

/// <summary>The grain directory of a cluster, as an object of the log: registrations are decided in the log's order,
/// and lookups are linearizable.</summary>
internal sealed partial class CorfuGrainDirectory(
    string name, CorfuOrleansRuntime runtime, ObjectNames names, TimeProvider time,
    ILogger<CorfuGrainDirectory> logger)
    : IGrainDirectory, ILifecycleParticipant<ISiloLifecycle>
{
    private const int UnregisterAttempts = 5;

    private static readonly TimeSpan s_unregisterPause = TimeSpan.FromSeconds(1);

    private readonly SharedObject<DirectoryObject> _directory = new(runtime, names.Directory(name));

    public void Participate(ISiloLifecycle observer) => observer.Subscribe(
        $"{nameof(CorfuGrainDirectory)}-{name}", ServiceLifecycleStage.RuntimeInitialize,
        async token => await _directory.GetAsync(token));

    public Task<GrainAddress?> Register(GrainAddress address) => Register(address, null, CancellationToken.None);

    public Task<GrainAddress?> Register(GrainAddress address, CancellationToken cancellationToken) =>
        Register(address, null, cancellationToken);

    public Task<GrainAddress?> Register(GrainAddress address, GrainAddress? previousAddress) =>
        Register(address, previousAddress, CancellationToken.None);

    public async Task<GrainAddress?> Register(
        GrainAddress address, GrainAddress? previousAddress, CancellationToken cancellationToken)
    {
        var grain = GrainKeys.Of(address.GrainId);
        var row = ToRow(address);
        var replaced = previousAddress is null ? null : ToRow(previousAddress);
        var registered = await _directory.RunAsync($"Registering grain {address.GrainId}",
            directory => directory.RegisterAsync(grain, row, replaced, cancellationToken), cancellationToken);
        return registered.IsSame(row) ? address : ToAddress(address.GrainId, registered);
    }

    public Task Unregister(GrainAddress address) => Unregister(address, CancellationToken.None);

    public Task Unregister(GrainAddress address, CancellationToken cancellationToken)
    {
        var grain = GrainKeys.Of(address.GrainId);
        var row = ToRow(address);
        return _directory.RunAsync($"Unregistering grain {address.GrainId}", async directory =>
        {
            await directory.UnregisterAsync(grain, row, cancellationToken);
            return true;
        }, cancellationToken);
    }

    public Task<GrainAddress?> Lookup(GrainId grainId) => Lookup(grainId, CancellationToken.None);

    public async Task<GrainAddress?> Lookup(GrainId grainId, CancellationToken cancellationToken)
    {
        var grain = GrainKeys.Of(grainId);
        var row = await _directory.RunAsync($"Looking up grain {grainId}",
            directory => directory.FindAsync(grain, cancellationToken), cancellationToken);
        return row is null ? null : ToAddress(grainId, row);
    }

    public Task UnregisterSilos(List<SiloAddress> siloAddresses) =>
        UnregisterSilos(siloAddresses, CancellationToken.None);

    /// <summary>Tries again while the log cannot be reached, then gives up without an exception. Orleans removes the
    /// registration of a dead silo when it meets one; an exception would end its watch over the cluster for
    /// good.</summary>
    public async Task UnregisterSilos(List<SiloAddress> siloAddresses, CancellationToken cancellationToken)
    {
        if (siloAddresses.Count == 0) return;
        ImmutableArray<string> silos = [.. siloAddresses.Select(static silo => silo.ToParsableString())];
        var names = string.Join(", ", silos);
        for (var left = UnregisterAttempts; left > 0; left--)
        {
            try
            {
                // Every silo of the cluster asks for it: those that come later find nothing and append nothing.
                var removed = await _directory.RunAsync("Unregistering silos",
                    async directory => await directory.CountAsync(silos, cancellationToken) > 0
                        ? await directory.RemoveSilosAsync(silos, cancellationToken)
                        : 0, cancellationToken);
                if (removed > 0) LogRemoved(removed, names);
                return;
            }
            catch (Exception e) when (!cancellationToken.IsCancellationRequested)
            {
                LogNotRemoved(e, names);
            }

            if (left > 1) await Task.Delay(s_unregisterPause, time, cancellationToken);
        }
    }

    private static DirectoryRow ToRow(GrainAddress address) => new(address.ActivationId.ToParsableString(),
        address.SiloAddress?.ToParsableString(), address.MembershipVersion.Value);

    private static GrainAddress ToAddress(GrainId grain, DirectoryRow row) => new()
    {
        GrainId = grain,
        ActivationId = ActivationId.FromParsableString(row.Activation),
        SiloAddress = row.Silo is null ? null : SiloAddress.FromParsableString(row.Silo),
        MembershipVersion = new MembershipVersion(row.MembershipVersion),
    };

    [LoggerMessage(LogLevel.Information, "Removed {Count} registrations of silos {Silos} from the grain directory")]
    private partial void LogRemoved(int count, string silos);

    [LoggerMessage(LogLevel.Warning, "Registrations of silos {Silos} are still in the grain directory")]
    private partial void LogNotRemoved(Exception exception, string silos);
}
