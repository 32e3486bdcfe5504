using Corfu.Load;

namespace Corfu.Peers;

/// <summary>The rounds of one operation at one number of callers.</summary>
internal sealed class CellRounds(string operation, bool writes, int inFlight)
{
    private readonly List<RoundResult> _rounds = [];
    private readonly List<(double Server, double Client)> _processor = [];
    private SyncCount? _syncs;

    public void Add(RoundResult round, double serverMicroseconds, double clientMicroseconds)
    {
        _rounds.Add(round);
        _processor.Add((serverMicroseconds, clientMicroseconds));
    }

    public void Count(SyncCount syncs) => _syncs = syncs;

    public CellReport Report() => new(operation, writes, inFlight, RoundResult.Median(_rounds), _rounds,
        RoundResult.Middle(_processor.Select(figures => figures.Server)),
        RoundResult.Middle(_processor.Select(figures => figures.Client)), _syncs);
}
