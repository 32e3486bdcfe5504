using Corfu.Protocol;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Craq;
using Craq.Chains;
using Craq.Coordination;
using Tango;
using Tango.Collections;

#pragma warning disable TANGO008 // StoredFormat registers the formatters of the protocol's types.

namespace Corfu.Simulation.Craq;

/// <summary>The directory as the log has it: an observer plays each change as soon as it is there, and judges
/// it.</summary>
internal sealed class DirectoryTruth
{
    private readonly SimLog _log;
    private readonly CraqMonitor _monitor;
    private readonly SimProcess _process;
    private readonly HashSet<(ChainId Chain, NodeId Node)> _destroyed = [];
    private CraqDirectory? _directory;
    private TangoDictionary<Guid, TransactionDecision>? _decisions;
    private bool _isPlaying;
    private bool _isStale;

    public DirectoryTruth(World world, SimLog log, CraqMonitor monitor)
    {
        (_log, _monitor) = (log, monitor);
        _process = new SimProcess(world, 0, "observer");
        log.Appended = Kick;
    }

    public bool IsOpen => _decisions is not null;

    public DirectoryView View { get; private set; } = DirectoryView.Empty;

    /// <summary>Transactions whose parts have not all ended, as far as the log knows.</summary>
    public bool HasDecisions { get; private set; }

    /// <summary>An epoch has been recorded open.</summary>
    public Action<ChainTruth> EpochOpened { get; set; } = static _ => { };

    public void Start() => _process.Start("observe", async () =>
    {
        var log = _log.Observe(_process);
        var runtime = new TangoRuntime(log, () => new StreamCursor(log), _process.Time,
            new SimEntropy(_process.World.Random.Split("observer")), loops: _process.Loops);
        _directory = await runtime.OpenAsync<CraqDirectory>(CraqDirectory.DefaultName, OpenMode.Create);
        _decisions = await runtime.OpenAsync<TangoDictionary<Guid, TransactionDecision>>(
            TangoChainDirectory.DecisionsName, OpenMode.Create);
        Kick();
    });

    /// <summary>An operator says that the member is destroyed, so that the chain may go on without its base
    /// (C20).</summary>
    public void Destroyed(ChainId chain, NodeId node) => _destroyed.Add((chain, node));

    private void Kick()
    {
        if (!IsOpen) return;
        _isStale = true;
        if (_isPlaying) return;
        _isPlaying = true;
        _process.Start("play", PlayAsync);
    }

    private async Task PlayAsync()
    {
        while (_isStale)
        {
            _isStale = false;
            var view = await _directory!.ViewAsync(default);
            HasDecisions = await _decisions!.CountAsync() > 0;
            if (view.Revision > View.Revision) Take(view);
        }

        _isPlaying = false;
    }

    private void Take(DirectoryView view)
    {
        var before = View;
        View = view;
        foreach (var (id, node) in view.Nodes)
        {
            if (before.Nodes.GetValueOrDefault(id)?.State != node.State)
                _process.World.Note($"{id} is {node.State}");
        }

        foreach (var (id, config) in view.Chains)
        {
            var known = before.Chains.GetValueOrDefault(id);
            if (known?.Epoch != config.Epoch) Recorded(known, config);
            if (config.IsRecordedOpen && (known?.Epoch != config.Epoch || !known.IsRecordedOpen)) Opened(config);
        }
    }

    private void Recorded(ChainConfig? before, ChainConfig config)
    {
        _monitor.Learn(config);
        _process.World.Note("config " + config);
        // Several changes may stand in one entry of the log.
        if (before is not null && before.Epoch.Next == config.Epoch) Judge(before, config);
    }

    // C8: between two epochs that are open there are removals alone, and each keeps enough of the base.
    private void Judge(ChainConfig before, ChainConfig after)
    {
        var removed = before.Members.RemoveAll(member => after.IndexOf(member.Node) >= 0);
        var isOpen = before.IsRecordedOpen || _monitor.Truth(before.Id).IsOpen(before.Epoch);
        if (removed.IsEmpty && !isOpen)
            _monitor.Found(CheckerNames.Fence, $"{after} follows an epoch that is not open");
        var kept = before.Base.Count(member => after.IndexOf(member.Node) >= 0);
        // The base is another one behind an epoch that was recorded open at the same time.
        if (kept < before.Kept && (before.IsRecordedOpen || !isOpen)
            && !removed.Any(member => _destroyed.Contains((after.Id, member.Node))))
            _monitor.Found(CheckerNames.Fence, $"{after} keeps {kept} members of the base, and {before.Kept} stay");
        foreach (var member in after.Members.Where(member => before.IndexOf(member.Node) < 0)) Promoted(after, member);
    }

    private void Promoted(ChainConfig config, ChainMember member)
    {
        _monitor.Mark("learner promoted");
        var log = _monitor.LogOf(member.Node);
        // The disk may have been lost since.
        if (log.Find(config.Id) is not { Standing: ChainStanding.Complete or ChainStanding.Full } && !log.IsErased)
            _monitor.Found(CheckerNames.Learn, $"{config} has a member whose disk says that it is not full");
    }

    private void Opened(ChainConfig config)
    {
        var truth = _monitor.Truth(config.Id);
        if (!truth.IsOpen(config.Epoch))
            _monitor.Found(CheckerNames.Fence, $"{config} is recorded open before all its members have begun it");
        _monitor.Mark("epoch opened");
        EpochOpened(truth);
    }
}
