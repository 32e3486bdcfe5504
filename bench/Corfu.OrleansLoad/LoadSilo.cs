using System.Globalization;
using System.Net;
using Corfu.Load;
using Corfu.Peers;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Configuration;
using Orleans.Hosting;
using Orleans.Runtime;
using Orleans.Storage;

namespace Corfu.OrleansLoad;

/// <summary>A silo on one kind of providers, and the operations that are measured on it.</summary>
internal sealed class LoadSilo : IAsyncDisposable
{
    public const string Storage = "load";
    public const string StateName = "state";

    private readonly IHost _silo;
    private readonly IHost _table;
    private readonly IAsyncDisposable _servers;
    private readonly IMembershipTable _membership;
    private readonly IGrainStorage _storage;
    private readonly IGrainFactory _grains;
    private readonly GrainState<LoadState>[] _states;
    private MembershipEntry _row;
    private string _etag = "";
    private TableVersion _version = new(0, "");
    private int _activated;

    private LoadSilo(string name, IHost silo, IHost table, IAsyncDisposable servers)
    {
        (Name, _silo, _table, _servers) = (name, silo, table, servers);
        _membership = table.Services.GetRequiredService<IMembershipTable>();
        _storage = silo.Services.GetRequiredKeyedService<IGrainStorage>(Storage);
        _grains = silo.Services.GetRequiredService<IGrainFactory>();
        _states = [.. Enumerable.Range(0, LoadPlan.InFlight.Max()).Select(_ => NewState())];
        _row = NewRow();
    }

    public string Name { get; }

    /// <param name="configure">Clustering, and grain storage called <see cref="Storage"/>.</param>
    /// <param name="servers">Servers that the providers need; disposed with the silo.</param>
    public static async Task<LoadSilo> StartAsync(
        string name, Action<ISiloBuilder> configure, IAsyncDisposable servers, CancellationToken cancellationToken)
    {
        string id = Guid.NewGuid().ToString("N")[..8];
        // The table that is updated is another cluster's: the silo's own rows are none of this.
        IHost table = Build($"table-{id}", configure);
        IHost silo = Build($"silo-{id}", configure);
        await silo.StartAsync(cancellationToken);
        var load = new LoadSilo(name, silo, table, servers);
        await load.PrepareAsync(cancellationToken);
        return load;
    }

    public async ValueTask UpdateMembershipAsync(int caller)
    {
        var next = _version.Next();
        _row.IAmAliveTime = DateTime.UtcNow;
        if (!await _membership.UpdateRowAsync(_row, _etag, next, CancellationToken.None))
            throw new PeerException($"{Name} refused an update.");
        await LearnAsync();
    }

    public async ValueTask WriteStateAsync(int caller) =>
        await _storage.WriteStateAsync(StateName, GrainId.Create("load-writer", caller.ToString("D4", Invariant)),
            _states[caller]);

    /// <summary>Calls grains that have a state and were never active, one after another.</summary>
    public async Task<RoundResult> ActivateAsync(int count)
    {
        ILoadGrain[] grains = [.. Enumerable.Range(_activated, count).Select(
            i => _grains.GetGrain<ILoadGrain>(i.ToString("D8", Invariant)))];
        _activated += count;
        await Parallel.ForEachAsync(grains, async (grain, _) =>
            await _storage.WriteStateAsync(StateName, grain.GetGrainId(), NewState()));
        var histogram = Latencies.Create();
        long start = TimeProvider.System.GetTimestamp();
        foreach (ILoadGrain grain in grains)
        {
            long began = TimeProvider.System.GetTimestamp();
            if (await grain.SizeAsync() != LoadPlan.StateBytes)
                throw new PeerException($"{Name} activated a grain without its state.");
            histogram.RecordNanoseconds((long)TimeProvider.System.GetElapsedTime(began).TotalNanoseconds);
        }

        return RoundResult.Of(histogram, TimeProvider.System.GetElapsedTime(start).TotalSeconds, 0);
    }

    public async ValueTask DisposeAsync()
    {
        await _silo.StopAsync();
        _silo.Dispose();
        _table.Dispose();
        await _servers.DisposeAsync();
    }

    private static CultureInfo Invariant => CultureInfo.InvariantCulture;

    private static IHost Build(string cluster, Action<ISiloBuilder> configure)
    {
        int[] ports = FreePort.Take(2);
        HostApplicationBuilder builder = Host.CreateApplicationBuilder();
        builder.Logging.SetMinimumLevel(LogLevel.Critical);
        builder.UseOrleans(silo =>
        {
            silo.Configure<ClusterOptions>(options => (options.ClusterId, options.ServiceId) = (cluster, cluster))
                .ConfigureEndpoints(IPAddress.Loopback, ports[0], ports[1]);
            configure(silo);
        });
        return builder.Build();
    }

    private async Task PrepareAsync(CancellationToken cancellationToken)
    {
        await _membership.InitializeMembershipTableAsync(true, cancellationToken);
        var empty = await _membership.ReadAllAsync(cancellationToken);
        if (!await _membership.InsertRowAsync(_row, empty.Version.Next(), cancellationToken))
            throw new PeerException($"{Name} refused a row.");
        await LearnAsync();
    }

    // As a silo does it: an update is followed by a read of the table.
    private async Task LearnAsync()
    {
        var table = await _membership.ReadRowAsync(_row.SiloAddress, CancellationToken.None);
        (_row, _etag) = table.Members[0];
        _version = table.Version;
    }

    private static GrainState<LoadState> NewState() =>
        new(new LoadState { Bytes = new byte[LoadPlan.StateBytes] });

    private static MembershipEntry NewRow() => new()
    {
        SiloAddress = SiloAddress.New(new IPEndPoint(IPAddress.Loopback, 1), 1),
        HostName = "host",
        SiloName = "measured",
        Status = SiloStatus.Active,
        StartTime = DateTime.UtcNow,
        IAmAliveTime = DateTime.UtcNow,
        SuspectTimes = [],
    };
}
