namespace NamenodeSample.Run;

/// <summary>Lets clients go on up to a limit, and holds them while the tree is looked at. Any thread.</summary>
internal sealed class Pace
{
    private static readonly TimeSpan s_poll = TimeSpan.FromMilliseconds(2);

    private readonly Lock _gate = new();
    private int _begun;
    private int _ended;
    private int _limit;
    private bool _isHeld;
    private bool _isOver;

    /// <summary>Operations of clients that are answered.</summary>
    public int Ended
    {
        get
        {
            lock (_gate) return _ended;
        }
    }

    /// <summary>Clients begin so many operations, and then wait.</summary>
    public void LetOn(int limit)
    {
        lock (_gate) (_limit, _isHeld) = (limit, false);
    }

    /// <summary>Waits for the answer that follows on so many.</summary>
    public async Task WaitPastAsync(int ended, CancellationToken cancellationToken)
    {
        while (Ended <= ended) await Task.Delay(s_poll, cancellationToken);
    }

    /// <summary>Holds all clients once they have the answers of what they have begun.</summary>
    public async Task HoldAsync(CancellationToken cancellationToken)
    {
        lock (_gate) _isHeld = true;
        while (!IsIdle()) await Task.Delay(s_poll, cancellationToken);
    }

    /// <summary>Clients end.</summary>
    public void End()
    {
        lock (_gate) _isOver = true;
    }

    /// <returns>False: there is nothing more to do.</returns>
    public async Task<bool> BeginAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            lock (_gate)
            {
                if (_isOver) return false;
                if (!_isHeld && _begun < _limit)
                {
                    _begun++;
                    return true;
                }
            }

            await Task.Delay(s_poll, cancellationToken);
        }
    }

    public void HasEnded()
    {
        lock (_gate) _ended++;
    }

    private bool IsIdle()
    {
        lock (_gate) return _begun == _ended;
    }
}
