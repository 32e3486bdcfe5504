namespace Corfu.ZooKeeper.Tests.Support;

/// <summary>Stops the appends of a log.</summary>
internal sealed class Turnstile
{
    private readonly TaskCompletionSource _waiting = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _open = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile bool _isShut;

    /// <summary>Completes when an append waits.</summary>
    public Task Shut()
    {
        _isShut = true;
        return _waiting.Task;
    }

    public void Open() => _open.SetResult();

    public async ValueTask PassAsync(CancellationToken cancellationToken)
    {
        if (!_isShut) return;
        _waiting.TrySetResult();
        await _open.Task.WaitAsync(cancellationToken);
    }
}
