using Corfu.Storage;
using Salus.Coordination;
using Salus.Region.Body;
using Salus.Region.Scrub;
using Salus.Store;
using Salus.Store.Log;
using Salus.Store.Shell;

namespace Salus.Hosting;

/// <summary>A node with all that it needs of its process: the store in its folder, connections, and its terms in the
/// log.</summary>
internal sealed class RunningSalusNode : IAsyncDisposable
{
    private readonly StoreFolder _store;
    private readonly RegionBodies _bodies;
    private readonly FileScrub _scrub;
    private readonly LogScrub _logScrub;
    private readonly TcpTransport _transport;
    private readonly MapGenerations _generations = new();
    private readonly NodeTerms _terms;

    private RunningSalusNode(RoleStart start, SalusNodeSettings settings, StoreFolder store)
    {
        var logger = start.Loggers.CreateLogger<NodeTerms>();
        var failed = new TaskCompletionSource<Exception>(TaskCreationOptions.RunContinuationsAsynchronously);
        _store = store;
        Fault = FirstOf(store.Log.Fault, failed.Task);
        _bodies = new RegionBodies(store.Files, ThreadWorkers.Instance,
            file => _scrub!.Report(file), e => failed.TrySetResult(e), settings.IndexCache, settings.Memtables,
            file => _scrub!.Want(file));
        _transport = new TcpTransport(new TcpTransportOptions { Cluster = start.Cluster, Tls = start.Tls }, start.Time,
            logger: start.Loggers.CreateLogger<TcpTransport>());
        _scrub = new FileScrub(new StoreId(start.Id.Value), store.Files, _bodies, () => _generations.View, _transport,
            start.Time, LoopContext.Pool, settings.Scrub);
        _scrub.Broken += file => SalusHostingLog.Damaged(logger, file.Region.ToString(), file.Number);
        _scrub.Mended += file => SalusHostingLog.Mended(logger, file.Region.ToString(), file.Number);
        _logScrub = new LogScrub(new StoreId(start.Id.Value), store.Log, () => _generations.View, _transport,
            start.Time, LoopContext.Pool, settings.Scrub);
        _logScrub.Broken += record =>
            SalusHostingLog.DamagedRecord(logger, record.Region.ToString(), record.Name.Index);
        _logScrub.Mended += record =>
            SalusHostingLog.MendedRecord(logger, record.Region.ToString(), record.Name.Index);
        Handler = new StoreHandler(start.Id, store.Log, store.Files, _generations, _scrub, _logScrub);
        _terms = new NodeTerms(new NodeParts(start, settings, store, _bodies, _transport, _generations));
    }

    public IRoleHandler Handler { get; }

    public StoreLog Store => _store.Log;

    public bool IsRegistered => _terms.Incarnation is not null;

    /// <summary>Regions that the node is a member of, and those of them that are being recovered.</summary>
    public (int Member, int Recovering) Regions => _terms.Regions;

    /// <summary>How each volume is, as far as the node follows the log.</summary>
    public IEnumerable<VolumeCondition> Volumes => _generations.View is { } view
        ? view.Entries.Keys.Select(name => VolumeCondition.Of(name, view)).OfType<VolumeCondition>()
        : [];

    /// <summary>Regions of all volumes whose newest generation is not ready.</summary>
    public int Unrecovered => _generations.View?.Volumes.Values
        .Sum(static volume => volume.Regions.Values.Count(static region => !region.Current.IsAdmitted)) ?? 0;

    /// <summary>Completes when the store has failed, or the work at its files.</summary>
    public Task<Exception> Fault { get; }

    /// <summary>Empty while all is well.</summary>
    public string Warning => _store.Log.State == StoreState.Salvaged
        ? "the store's log is not whole: the store shows what has a certificate to recoveries and takes nothing new. "
            + "Make a new node; this one may go when 'corfu volume list' shows every volume ready without it"
        : _terms.Trouble ?? Damage ?? "";

    private string? Damage => _store.Log.HasBrokenHead
        ? "the store's log is damaged so that a restart would take nothing new. Make a new node before this one is "
            + "restarted"
        : Repairs;

    private string? Repairs => (_scrub.Damaged.Count, _logScrub.Damaged.Count) switch
    {
        ( > 0 and var files, _) =>
            $"{files} files are damaged or missing, and come from other nodes as soon as one has them whole",
        (_, > 0 and var records) =>
            $"{records} records of the store's log are damaged, and come from other nodes as soon as one has them "
            + "whole",
        _ when _terms.SweepFault is { } fault => $"what is left of deleted volumes cannot be dropped: {fault}",
        _ when _scrub.ListFault is { } fault =>
            $"the folder of checkpoint files cannot be read, and damage is not searched for: {fault}",
        _ => null,
    };

    /// <summary>Reads the store's log back. The log that coordinates may be away, and the process does not listen
    /// yet.</summary>
    /// <exception cref="CorfuException">The store lacks its log.</exception>
    public static async Task<RunningSalusNode> OpenAsync(RoleStart start, SalusNodeSettings settings)
    {
        var store = await StoreFolder.OpenAsync(start.Folder, start.Id, settings.Store, mustExist: !start.IsNew);
        var node = new RunningSalusNode(start, settings, store);
        SalusNodeTelemetry.Nodes.Add(node);
        node._scrub.Start();
        node._logScrub.Start();
        node._terms.Start();
        return node;
    }

    public async ValueTask DisposeAsync()
    {
        SalusNodeTelemetry.Nodes.Remove(this);
        await _terms.DisposeAsync();
        await _scrub.DisposeAsync();
        await _logScrub.DisposeAsync();
        await _bodies.DisposeAsync();
        _transport.Dispose();
        await _store.DisposeAsync();
    }

    private static async Task<Exception> FirstOf(params Task<Exception>[] faults) =>
        await await Task.WhenAny(faults);
}
