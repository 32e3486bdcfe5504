namespace Craq.Transactions;

/// <summary>Ends after a time, with the node, or when it is enough.</summary>
internal sealed class TimeLimit : IDisposable
{
    private readonly CancellationTokenSource _after;
    private readonly CancellationTokenSource _any;

    public TimeLimit(TimeSpan after, TimeProvider time, CancellationToken stopping)
    {
        _after = new CancellationTokenSource(after, time);
        _any = CancellationTokenSource.CreateLinkedTokenSource(_after.Token, stopping);
    }

    public CancellationToken Token => _any.Token;

    public void End() => _any.Cancel();

    public void Dispose()
    {
        _any.Dispose();
        _after.Dispose();
    }
}
