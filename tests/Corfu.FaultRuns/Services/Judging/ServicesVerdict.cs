namespace Corfu.FaultRuns.Services.Judging;

/// <summary>Counts of what went wrong, with the first cases in words.</summary>
public sealed class ServicesVerdict(long operations)
{
    private readonly List<string> _told = [];
    private long _ledgersLost;
    private long _ledgersTwice;
    private long _afterFence;
    private long _ledgersStale;
    private long _storeLost;
    private long _storeTwice;
    private long _storeStale;
    private long _machinesLost;
    private long _machinesTwice;
    private long _machinesStale;
    private long _diverged;

    public bool IsGood => _told.Count == 0 && operations > 0;

    public static ServicesVerdict Of(ServicesHistory history, ServicesAudit audit)
    {
        var verdict = new ServicesVerdict(history.Operations);
        StoreJudge.Judge(history, audit, verdict);
        LedgerJudge.Judge(history, audit, verdict);
        MachineJudge.Judge(history, audit, verdict);
        return verdict;
    }

    public IEnumerable<string> Told(int most) => _told.Take(most);

    public void LedgerLost(string what) => Count(ref _ledgersLost, $"ledgers lost: {what}");

    public void LedgerTwice(string what) => Count(ref _ledgersTwice, $"ledgers twice: {what}");

    public void AfterFence(string what) => Count(ref _afterFence, $"ledgers after the fence: {what}");

    public void LedgerStale(string what) => Count(ref _ledgersStale, $"ledgers stale: {what}");

    public void StoreLost(string what) => Count(ref _storeLost, $"store lost: {what}");

    public void StoreTwice(string what) => Count(ref _storeTwice, $"store twice: {what}");

    public void StoreStale(string what) => Count(ref _storeStale, $"store stale: {what}");

    public void MachineLost(string what) => Count(ref _machinesLost, $"machines lost: {what}");

    public void MachineTwice(string what) => Count(ref _machinesTwice, $"machines twice: {what}");

    public void MachineStale(string what) => Count(ref _machinesStale, $"machines stale: {what}");

    public void Diverged(string what) => Count(ref _diverged, $"machines diverged: {what}");

    public override string ToString() =>
        $"operations={operations} ledgers lost={_ledgersLost} twice={_ledgersTwice} after_fence={_afterFence} "
        + $"stale={_ledgersStale} store lost={_storeLost} twice={_storeTwice} stale={_storeStale} "
        + $"machines lost={_machinesLost} twice={_machinesTwice} stale={_machinesStale} diverged={_diverged}";

    private void Count(ref long count, string what)
    {
        count++;
        _told.Add(what);
    }
}
