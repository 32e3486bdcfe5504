using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Salus.Coordination;
using Salus.Protocol;
using Tango;
using Tango.Collections;

namespace Corfu.Simulation.Salus;

/// <summary>Nodes and volumes as the log has them: an observer plays it as soon as an entry is there.</summary>
internal sealed class SalusTruth
{
    private readonly SimProcess _process;
    private readonly SimLog _log;
    private readonly SortedDictionary<Guid, VolumeState> _states = [];
    private readonly HashSet<string> _ready = [];
    private bool _isPlaying;
    private bool _isStale;

    public SalusTruth(World world, SimLog log)
    {
        _process = new SimProcess(world, 0, "observer");
        _log = log;
        log.Appended = Kick;
    }

    /// <summary>Told of every new state of a volume, with the one before it.</summary>
    public Action<VolumeState, VolumeState> VolumeChanged { get; set; } = static (_, _) => { };

    public Action<NodeBookView> NodesChanged { get; set; } = static _ => { };

    public NodeBookView Nodes { get; private set; } = NodeBookView.Empty;

    public bool IsOpen => Book is not null;

    private NodeBook? Book { get; set; }

    private VolumeDirectory? Directory { get; set; }

    private TangoRuntime? Runtime { get; set; }

    private Dictionary<VolumeId, SalusVolume> Volumes { get; } = [];

    public VolumeState StateOf(VolumeId volume) => _states.GetValueOrDefault(volume.Value, VolumeState.Empty);

    /// <summary>Gives a volume to the agents.</summary>
    public void Create(string name, VolumeId id, VolumeGeometry geometry) => _process.Start("create", async () =>
    {
        if (await Directory!.AddAsync(name, id, geometry) is { } refusal) _process.World.Fail(refusal);
    });

    public bool IsReady(string name) => _ready.Contains(name);

    public void Start() => _process.Start("observe", async () =>
    {
        var log = _log.Observe(_process);
        Runtime = new TangoRuntime(log, () => new StreamCursor(log), _process.Time,
            new SimEntropy(_process.World.Random.Split("observer")), loops: _process.Loops);
        // Agents replace members in transactions that read their lock. A replica without it waits for their outcome,
        // and falls behind the nodes that it judges.
        await Runtime.OpenAsync<TangoLock>(SalusAgent.ElectionName, OpenMode.Create);
        Directory = await VolumeDirectory.OpenAsync(Runtime);
        Book = await Runtime.OpenAsync<NodeBook>(NodeBook.DefaultName, OpenMode.Create);
        Kick();
    });

    private void Kick()
    {
        if (Book is null) return;
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
            var nodes = await Book!.ViewAsync();
            if (nodes.Revision > Nodes.Revision) NodesChanged(Nodes = nodes);
            foreach (var (name, entry) in (await Directory!.ListAsync()).OrderBy(entry => entry.Value.Id.Value))
            {
                await PlayAsync(entry);
                if (entry.Stage == VolumeStage.Ready) _ready.Add(name);
            }
        }

        _isPlaying = false;
    }

    private async Task PlayAsync(VolumeEntry entry)
    {
        if (!Volumes.TryGetValue(entry.Id, out var volume))
        {
            volume = await Runtime!.OpenAsync<SalusVolume>(SalusVolume.NameOf(entry.Id), OpenMode.Create);
            Volumes.TryAdd(entry.Id, volume);
        }

        var state = await volume.StateAsync();
        var before = StateOf(entry.Id);
        if (state.Revision <= before.Revision) return;
        _states[entry.Id.Value] = state;
        VolumeChanged(before, state);
    }
}
