using NamenodeSample.Journaling;
using NamenodeSample.Tree;
using Tango;
using Tango.Ledgers;

namespace NamenodeSample.Serving;

/// <summary>A namenode that was elected. It may write until its ledger refuses an edit: another has recovered the
/// ledger then.</summary>
internal sealed class Active : IAsyncDisposable
{
    // Small, so that a short run has images.
    private const long EditsOfSegment = 60;

    private readonly Journal _journal;
    private readonly JournalWriter _writer;
    private readonly SharedTree _tree;
    private readonly long _token;

    // Guards the writer and the order of edits: the tree has an edit once the writer has it, in the same order.
    private readonly SemaphoreSlim _turn = new(1, 1);
    private readonly TaskCompletionSource _failed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly CancellationTokenSource _stop = new();
    private long _segment;

    // As long as the tree was at the last image: images cost the same for each edit, however large the tree is.
    private long _editsOfSegment;
    private Task _imaging = Task.CompletedTask;

    private Active(Journal journal, JournalWriter writer, SharedTree tree, long token, long first)
    {
        (_journal, _writer, _tree, _token) = (journal, writer, tree, token);
        _segment = first;
        _editsOfSegment = Math.Max(EditsOfSegment, tree.Use(static tree => tree.Size));
    }

    /// <summary>Fails when this active can write no more. The tree may have edits then that the journal has not.
    /// </summary>
    public Task Failed => _failed.Task;

    public static async Task<Active> BeginAsync(
        Journal journal, SharedTree tree, long token, CancellationToken cancellationToken)
    {
        long first = tree.Use(static tree => tree.LastId) + 1;
        return new Active(
            journal, await JournalWriter.BeginAsync(journal, token, first, cancellationToken), tree, token, first);
    }

    /// <summary>Does an operation once, however often it is sent.</summary>
    /// <returns>The answer as text; null: what became of the operation is not known here.</returns>
    public async Task<string?> DoAsync(
        string client, long number, Operation operation, CancellationToken cancellationToken)
    {
        string answer;
        Task durable;
        await _turn.WaitAsync(cancellationToken);
        try
        {
            // The operation was not begun here. An earlier attempt in doubt is decided by the next active.
            if (_failed.Task.IsCompleted) return Answers.Standby;
            var isChange = false;
            (answer, isChange) = _tree.Use(tree => Decide(tree, client, number, operation));
            durable = isChange
                ? _writer.AppendAsync(new Edit(_tree.Use(static tree => tree.LastId), client, number, operation))
                : _writer.Newest;
            if (isChange) await RollIfLongAsync();
        }
        catch (Exception e)
        {
            _failed.TrySetException(e);
            return null;
        }
        finally
        {
            _turn.Release();
        }

        return await AnswerAsync(answer, durable, cancellationToken);
    }

    /// <summary>Reads the tree with all that was acknowledged before.</summary>
    /// <param name="read">Must not keep nodes of the tree.</param>
    /// <exception cref="NotActiveException">This namenode is not the active any more.</exception>
    public async Task<T> ReadAsync<T>(Func<NamespaceTree, T> read, CancellationToken cancellationToken)
    {
        try
        {
            T result;
            Task durable;
            await _turn.WaitAsync(cancellationToken);
            try
            {
                if (_failed.Task.IsCompleted) throw new NotActiveException();
                (result, durable) = (_tree.Use(read), _writer.Newest);
            }
            finally
            {
                _turn.Release();
            }

            // As in AnswerAsync: what is read must be durable, and of a time before another was elected.
            await durable.WaitAsync(cancellationToken);
            await _journal.Election.Lock.RequireHeldAsync(_token, cancellationToken);
            return result;
        }
        catch (TangoLeaseLostException)
        {
            throw new NotActiveException();
        }
        catch (LedgerException e)
        {
            _failed.TrySetException(e);
            throw new NotActiveException();
        }
    }

    /// <summary>Asks the ledger whether this active may still write. The ledger's answer is final, also where the lease
    /// is lost.</summary>
    /// <exception cref="TangoLeaseLostException">Another namenode was elected, and has fenced the ledger.</exception>
    /// <exception cref="LedgerException">This active has failed, and no other is known to be elected.</exception>
    public async Task AskLedgerAsync(CancellationToken cancellationToken)
    {
        await _turn.WaitAsync(cancellationToken);
        try
        {
            // Nothing is appended after a failure: a roll that failed leaves a ledger that the list of segments has
            // not, which no namenode fences.
            if (_failed.Task.IsCompleted) await _failed.Task;
            await _writer.AppendAsync(Edit.Mark(_tree.Use(static tree => tree.LastId))).WaitAsync(cancellationToken);
        }
        catch (LedgerException e) when (e.Error == LedgerError.LedgerFenced)
        {
            throw new TangoLeaseLostException(_journal.Election.Lock.ObjectName, _token, e.Message);
        }
        catch (LedgerException)
        {
            // An append in doubt, or a writer that has ended: the election tells why.
            await _journal.Election.Lock.RequireHeldAsync(_token, cancellationToken);
            throw;
        }
        finally
        {
            _turn.Release();
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        // Calls that wait for their turn must not reach the tree any more.
        _failed.TrySetException(new NotActiveException());
        await _imaging.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await _writer.DisposeAsync();
        _stop.Dispose();
    }

    private static (string Answer, bool IsChange) Decide(
        NamespaceTree tree, string client, long number, Operation operation)
    {
        if (operation.Verb == Verb.Status)
        {
            Outcome status = tree.Status(operation.Path);
            return ($"{(status.IsDone ? Answers.Read : Answers.Refused)} {tree.LastId} {status.Text}", false);
        }

        if (tree.AnswerOf(client) is { } known && known.Number >= number)
        {
            // An older number has waited somewhere until its client had the answer from elsewhere.
            return known.Number == number
                ? ($"{Answers.Before} {known.Id} {known.Text}", false)
                : (Answers.Standby, false);
        }

        Outcome outcome = tree.Do(client, number, operation);
        return ($"{(outcome.IsDone ? Answers.Done : Answers.Refused)} {tree.LastId} {outcome.Text}", outcome.IsDone);
    }

    private async Task<string?> AnswerAsync(string answer, Task durable, CancellationToken cancellationToken)
    {
        try
        {
            // An answer tells of edits below it: they must be durable too.
            await durable.WaitAsync(cancellationToken);
            // A namenode that was elected since may have gone on: what is read here must be of a time before.
            if (answer.StartsWith(Answers.Read, StringComparison.Ordinal)
                || answer.StartsWith(Answers.Refused, StringComparison.Ordinal))
                await _journal.Election.Lock.RequireHeldAsync(_token, cancellationToken);
            return answer;
        }
        catch (TangoLeaseLostException)
        {
            return Answers.Standby;
        }
        catch (Exception e) when (e is not OperationCanceledException)
        {
            _failed.TrySetException(e);
            return null;
        }
    }

    /// <summary>Begins a segment when the current one is long, and writes an image of all before it.</summary>
    private async Task RollIfLongAsync()
    {
        long last = _tree.Use(static tree => tree.LastId);
        if (last - _segment < _editsOfSegment || !_imaging.IsCompleted) return;
        (byte[] image, _editsOfSegment) = _tree.Use(
            static tree => (tree.ToImage().Encode(), Math.Max(EditsOfSegment, tree.Size)));
        await _writer.RollAsync(last + 1, _stop.Token);
        _segment = last + 1;
        _imaging = WriteImageAsync(image, last + 1);
    }

    private async Task WriteImageAsync(byte[] image, long first)
    {
        try
        {
            await _writer.WriteImageAsync(image, first, _stop.Token);
        }
        catch (Exception e)
        {
            _failed.TrySetException(e);
        }
    }
}

/// <summary>The namenode has ended as the active: ask another.</summary>
internal sealed class NotActiveException() : Exception("This namenode is not the active any more");
