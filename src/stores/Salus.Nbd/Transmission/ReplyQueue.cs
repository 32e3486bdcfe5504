using Salus.Nbd.Commands;

namespace Salus.Nbd.Transmission;

/// <summary>Replies of a connection, in the order in which commands end. The thread that ends a command writes its
/// reply, and those that come meanwhile, if no other one writes. Any thread.</summary>
/// <param name="written">Gets each command behind its reply.</param>
/// <param name="gone">Called once, when the client takes no more replies; from then on they are only released.</param>
internal sealed class ReplyQueue(
    ExportView export, ReplyOutput output, Action<NbdRequest> written, Action gone)
{
    private readonly Lock _gate = new();

    // Guarded by _gate. While _isWriting, a thread will see to all of _ready, and flush.
    private readonly Queue<NbdRequest> _ready = new();
    private bool _isWriting;
    private TaskCompletionSource? _idle;

    // Touched by the writing thread alone.
    private bool _isGone;

    /// <summary>The command has ended.</summary>
    public void Add(NbdRequest request)
    {
        lock (_gate)
        {
            _ready.Enqueue(request);
            if (_isWriting) return;
            _isWriting = true;
        }

        _ = WriteAsync();
    }

    /// <summary>Ends when all replies so far have left.</summary>
    public Task WhenIdleAsync()
    {
        lock (_gate)
        {
            if (!_isWriting) return Task.CompletedTask;
            _idle ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            return _idle.Task;
        }
    }

    private async Task WriteAsync()
    {
        while (true)
        {
            while (TryTake(out var request))
            {
                try
                {
                    if (!_isGone) await CommandTable.ReplyAsync(request, export, output).ConfigureAwait(false);
                }
                catch
                {
                    Lose();
                }

                written(request);
            }

            try
            {
                if (!_isGone) await output.FlushAsync().ConfigureAwait(false);
            }
            catch
            {
                Lose();
            }

            lock (_gate)
            {
                if (_ready.Count > 0) continue;
                _isWriting = false;
                _idle?.SetResult();
                _idle = null;
                return;
            }
        }
    }

    private bool TryTake([System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out NbdRequest? request)
    {
        lock (_gate) return _ready.TryDequeue(out request);
    }

    // The client has gone, whatever the error says.
    private void Lose()
    {
        _isGone = true;
        gone();
    }
}
