using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Salus.Snapshots;
using Tango;

namespace Salus;

/// <summary>Finds volumes and mounts them. Any thread. Runtime and transport stay the caller's, and outlive all mounted
/// volumes.</summary>
public sealed class SalusClient
{
    private readonly TangoRuntime _runtime;
    private readonly ITransport _transport;
    private readonly SalusClientOptions _options;
    private readonly TimeProvider _time;
    private readonly IEntropy _entropy;
    private readonly LoopContext _loops;
    private readonly ILogger _logger;
    private readonly VolumeDirectory _directory;

    // The volumes that this client has mounted for writing.
    private readonly ConcurrentDictionary<VolumeId, VolumeDriver> _mounted = new();

    private SalusClient(TangoRuntime runtime, ITransport transport, SalusClientOptions options, TimeProvider time,
        IEntropy entropy, LoopContext loops, ILogger logger, VolumeDirectory directory)
    {
        (_runtime, _transport, _options, _time) = (runtime, transport, options, time);
        (_entropy, _loops, _logger, _directory) = (entropy, loops, logger, directory);
    }

    /// <param name="runtime">A runtime of the log that the nodes are registered on.</param>
    /// <param name="transport">To region servers. A request waits there for up to 2 s: its time-out is
    /// longer.</param>
    /// <param name="loops">Runs the work that callers share. Null: the thread pool.</param>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public static async ValueTask<SalusClient> OpenAsync(TangoRuntime runtime, ITransport transport,
        SalusClientOptions? options = null, TimeProvider? time = null, IEntropy? entropy = null,
        LoopContext? loops = null, ILogger? logger = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(runtime);
        ArgumentNullException.ThrowIfNull(transport);
        options ??= SalusClientOptions.Default;
        options.Validate();
        return new SalusClient(runtime, transport, options, time ?? TimeProvider.System,
            entropy ?? SystemEntropy.Instance, loops ?? LoopContext.Pool, logger ?? NullLogger.Instance,
            await VolumeDirectory.OpenAsync(runtime, cancellationToken));
    }

    /// <summary>The volumes that this client has mounted for writing.</summary>
    public ImmutableArray<VolumeUse> Mounted => [.. _mounted.Values.Select(static driver => driver.Describe())];

    /// <summary>A volume, or a snapshot for reading. Linearizable.</summary>
    /// <param name="name"><c>volume</c> or <c>volume@snapshot</c>; the snapshot begins behind the first
    /// <c>@</c>.</param>
    /// <returns>Null: there is none, or it is being made or deleted.</returns>
    /// <exception cref="VolumeException">The log does not answer, or is trimmed too far.</exception>
    public async ValueTask<IVolumeSource?> FindAsync(string name, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(name);
        return await AskAsync(() => SourceAsync(name, cancellationToken));
    }

    private async Task<Source?> SourceAsync(string name, CancellationToken cancellationToken)
    {
        var at = name.IndexOf('@', StringComparison.Ordinal);
        if (await EntryAsync(at < 0 ? name : name[..at], cancellationToken) is not { } entry) return null;
        if (at < 0) return new Source(this, entry, null);
        await using var log = await LogAsync(entry.Id, cancellationToken);
        var snapshot = name[(at + 1)..];
        return log.State.Head.Snapshots.Any(known => known.Name == snapshot)
            ? new Source(this, entry, snapshot)
            : null;
    }

    /// <summary>Takes a snapshot. A volume that this client has not mounted is mounted for the time.</summary>
    /// <exception cref="VolumeException">There is no such volume, another process has mounted it, or its regions or the
    /// log do not answer. The snapshot may have been taken when the log does not answer.</exception>
    public async ValueTask SnapshotAsync(
        string volume, string snapshot, CancellationToken cancellationToken = default)
    {
        ArgumentException.ThrowIfNullOrEmpty(snapshot);
        try
        {
            await TakeAsync(volume, snapshot, cancellationToken);
        }
        catch (Exception e) when (LogFaults.IsFault(e))
        {
            throw LogFaults.Told(e);
        }
    }

    private async Task TakeAsync(string volume, string snapshot, CancellationToken cancellationToken)
    {
        var entry = await EntryAsync(volume, cancellationToken)
            ?? throw new VolumeException(VolumeFault.Unavailable,
                $"There is no volume '{volume}': 'corfu volume list' shows those that there are.");
        if (_mounted.TryGetValue(entry.Id, out var mounted))
        {
            await mounted.SnapshotAsync(snapshot, cancellationToken);
            return;
        }

        await using var driver = await MountAsync(entry.Id, cancellationToken);
        await driver.SnapshotAsync(snapshot, cancellationToken);
    }

    // Callers know volumes by one kind of exception.
    private static async Task<T> AskAsync<T>(Func<Task<T>> call)
    {
        try
        {
            return await call();
        }
        catch (Exception e) when (LogFaults.IsFault(e))
        {
            throw LogFaults.Told(e);
        }
    }

    private async ValueTask<VolumeEntry?> EntryAsync(string name, CancellationToken cancellationToken) =>
        await _directory.FindAsync(name, cancellationToken) is { Stage: VolumeStage.Ready } entry ? entry : null;

    private ValueTask<TangoVolumeLog> LogAsync(VolumeId volume, CancellationToken cancellationToken) =>
        TangoVolumeLog.OpenAsync(_runtime, volume, _time, _loops, cancellationToken);

    private async Task<VolumeDriver> MountAsync(VolumeId volume, CancellationToken cancellationToken)
    {
        var ports = await PortsAsync(
            volume, () => _mounted.TryRemove(volume, out var _), cancellationToken);
        try
        {
            var driver = await VolumeDriver.MountAsync(ports, _options, cancellationToken);
            // A deletion takes the lock that the driver has now: one that came before shows here.
            var entries = await _directory.ListAsync(cancellationToken);
            if (!entries.Values.Any(entry => entry.Id == volume && entry.Stage == VolumeStage.Ready))
            {
                await driver.DisposeAsync();
                throw new VolumeException(VolumeFault.Unavailable, "The volume is being deleted.");
            }

            _mounted[volume] = driver;
            return driver;
        }
        catch
        {
            await ports.Closed();
            throw;
        }
    }

    private async Task<SnapshotVolume> MountAsync(
        VolumeId volume, string snapshot, CancellationToken cancellationToken)
    {
        var ports = await PortsAsync(volume, static () => { }, cancellationToken);
        try
        {
            return await SnapshotVolume.MountAsync(ports, _options, snapshot, cancellationToken);
        }
        catch
        {
            await ports.Closed();
            throw;
        }
    }

    private async ValueTask<VolumePorts> PortsAsync(
        VolumeId volume, Action closed, CancellationToken cancellationToken)
    {
        var log = await LogAsync(volume, cancellationToken);
        return new VolumePorts(log, _transport, _time, _entropy, _loops, _logger)
        {
            Closed = async () =>
            {
                closed();
                await log.DisposeAsync();
            },
        };
    }

    private sealed class Source(SalusClient client, VolumeEntry entry, string? snapshot) : IVolumeSource
    {
        public long Size => entry.Geometry.Size;

        public int BlockSize => entry.Geometry.BlockSize;

        public bool IsReadOnly => snapshot is not null;

        public async ValueTask<IVolume> MountAsync(CancellationToken cancellationToken) =>
            await AskAsync<IVolume>(async () => snapshot is null
                ? await client.MountAsync(entry.Id, cancellationToken)
                : await client.MountAsync(entry.Id, snapshot, cancellationToken));
    }
}
