using Salus.Coordination.Rules;

namespace Salus.Region.Tests.Support;

/// <summary>The log's volume and book of a test: the shipped rules, without a log.</summary>
internal sealed class TestMap
{
    private readonly Lock _gate = new();
    private readonly List<Access> _accesses = [];
    private VolumeState _state = VolumeState.Empty;

    public VolumeState State
    {
        get
        {
            lock (_gate) return _state;
        }
    }

    public NodeBookView Nodes { get; private set; } = NodeBookView.Empty;

    public void Book(StoreId store, Incarnation incarnation)
    {
        lock (_gate)
        {
            var node = new BookedNode(store, incarnation, new NodeEndpoint("node", 1), "", 1L << 40,
                BookedState.Live, Nodes.Revision + 1);
            Nodes = new NodeBookView(Nodes.Revision + 1, Nodes.Stores.SetItem(store.Value, node));
        }
    }

    public Access For(Func<bool> isHeld)
    {
        var access = new Access(this, isHeld);
        lock (_gate) _accesses.Add(access);
        return access;
    }

    /// <returns>Why nothing changes.</returns>
    public string? Change(Func<VolumeState, VolumeRuling> rule)
    {
        string? refusal;
        lock (_gate)
        {
            var ruling = rule(_state);
            (_state, refusal) = (ruling.State, ruling.Refusal);
        }

        foreach (var access in Accesses()) access.Tell();
        return refusal;
    }

    public void Must(Func<VolumeState, VolumeRuling> rule) => Assert.Null(Change(rule));

    private Access[] Accesses()
    {
        lock (_gate) return [.. _accesses];
    }

    internal sealed class Access(TestMap map, Func<bool> isHeld) : IRegionMap
    {
        private VolumeState _seen = map.State;

        public event Action<VolumeId>? Changed;

        /// <summary>The process plays nothing new by itself.</summary>
        public bool Lags { get; set; }

        public bool IsHeld => isHeld();

        public NodeBookView Nodes => map.Nodes;

        public IReadOnlyCollection<VolumeId> Volumes => [map.State.Head.Id];

        public MapView View => MapView.Empty with
        {
            Nodes = map.Nodes,
            Volumes = MapView.Empty.Volumes.Add(map.State.Head.Id, map.State),
        };

        public void Tell()
        {
            if (Lags) return;
            _seen = map.State;
            Changed?.Invoke(_seen.Head.Id);
        }

        public VolumeState? Find(VolumeId volume)
        {
            var state = Lags ? _seen : map.State;
            return state.Head.Id == volume ? state : null;
        }

        public async ValueTask<VolumeState?> RefreshAsync(VolumeId volume, CancellationToken cancellationToken)
        {
            await Task.Yield();
            _seen = map.State;
            Changed?.Invoke(volume);
            return _seen;
        }

        public async ValueTask<string?> RecoveredAsync(RegionKey region, Epoch generation, RegionOpening opening,
            Certificate certificate, CancellationToken cancellationToken)
        {
            await Task.Yield();
            return map.Change(state =>
                RegionRules.Recovered(state, region.Region, generation, opening, certificate));
        }

        public async ValueTask<string?> ReportAsync(RegionKey region, Epoch generation, RegionReport report,
            Certificate certificate, CancellationToken cancellationToken)
        {
            await Task.Yield();
            return map.Change(state => VolumeRules.Report(state, region.Region, generation, report, certificate));
        }

        public async ValueTask<string?> PublishAsync(RegionKey region, Epoch generation, CheckpointName checkpoint,
            Certificate certificate, CancellationToken cancellationToken)
        {
            await Task.Yield();
            return map.Change(state =>
                RegionRules.Publish(state, region.Region, generation, checkpoint, certificate));
        }

        public async ValueTask<string?> FillAsync(
            RegionKey region, Epoch generation, Incarnation member, CancellationToken cancellationToken)
        {
            await Task.Yield();
            return map.Change(state => RegionRules.Fill(state, region.Region, generation, member));
        }

        public async ValueTask<string?> AccuseAsync(
            RegionKey region, Suspicion suspicion, CancellationToken cancellationToken)
        {
            await Task.Yield();
            return map.Change(state => VolumeRules.Suspect(state, suspicion));
        }
    }
}
