using System.Buffers;
using System.Globalization;
using System.IO.Pipelines;

namespace Craq.Hosting.Memcached;

/// <summary>A connection in the text protocol. An unknown outcome is an error of the server, and no miss.</summary>
internal sealed class TextSession(MemcachedStore store, int maxValue) : IMemcachedSession
{
    private const string ServerError = "SERVER_ERROR ";

    private readonly CommandReader _reader = new(maxValue);

    // The command that was read and is not executed.
    private TextCommand? _next;

    public bool TryRead(ref ReadOnlySequence<byte> buffer)
    {
        _next = _reader.Read(ref buffer);
        return _next is not null;
    }

    public async ValueTask<bool> ExecuteAsync(PipeWriter output, CancellationToken cancellationToken)
    {
        var command = _next!;
        _next = null;
        if (command.Verb == MemcachedVerb.Quit) return false;
        try
        {
            var answer = command.Error ?? await AnswerAsync(command, output, cancellationToken);
            if (!command.NoReply) output.Line(answer);
        }
        catch (CorfuException e)
        {
            // A retrieval may have written values by then: the error ends it in place of END.
            store.Failed();
            if (!command.NoReply) output.Line(ServerError + e.Message);
        }

        return true;
    }

    private async ValueTask<string> AnswerAsync(
        TextCommand command, PipeWriter output, CancellationToken cancellationToken)
    {
        switch (command.Verb)
        {
            case MemcachedVerb.Get or MemcachedVerb.Gets:
                return await GetAsync(command, output, cancellationToken);
            case MemcachedVerb.GetAndTouch or MemcachedVerb.GetsAndTouch:
                return await GetAndTouchAsync(command, output, cancellationToken);
            case MemcachedVerb.Version:
                return "VERSION " + MemcachedCounters.Version;
            case MemcachedVerb.Verbosity:
                return "OK";
            case MemcachedVerb.Stats:
                foreach (var (name, value) in store.Stats) output.Line($"STAT {name} {value}");
                return "END";
            case MemcachedVerb.FlushAll:
                var flushed = await store.FlushAsync(command.Exptime, cancellationToken);
                return flushed == ChangeOutcome.Done ? "OK" : ErrorOf(flushed);
            default:
                return AnswerOf(command.Verb, await store.ChangeAsync(ChangeOf(command), cancellationToken));
        }
    }

    private async ValueTask<string> GetAsync(
        TextCommand command, PipeWriter output, CancellationToken cancellationToken)
    {
        for (var first = 0; first < command.Keys.Length; first += MemcachedStore.KeysAtOnce)
        {
            if (first > 0) await output.FlushAsync(cancellationToken);
            var count = Math.Min(MemcachedStore.KeysAtOnce, command.Keys.Length - first);
            var keys = count == command.Keys.Length ? command.Keys : command.Keys.Slice(first, count);
            var objects = await store.GetAsync(keys, cancellationToken);
            for (var i = 0; i < objects.Length; i++)
            {
                if (!objects[i].IsFound) continue;
                output.Value(keys[i], objects[i], command.Verb == MemcachedVerb.Gets);
                // A slow reader's answers do not pile up here.
                if (output.UnflushedBytes > maxValue) await output.FlushAsync(cancellationToken);
            }
        }

        return "END";
    }

    private async ValueTask<string> GetAndTouchAsync(
        TextCommand command, PipeWriter output, CancellationToken cancellationToken)
    {
        foreach (var key in command.Keys)
        {
            var (outcome, found) = await store.GetAndTouchAsync(key, command.Exptime, cancellationToken);
            if (outcome is ChangeOutcome.Unknown or ChangeOutcome.Contended) return ErrorOf(outcome);
            if (outcome != ChangeOutcome.Done) continue;
            output.Value(key, found, command.Verb == MemcachedVerb.GetsAndTouch);
            if (output.UnflushedBytes > maxValue) await output.FlushAsync(cancellationToken);
        }

        return "END";
    }

    private static ObjectChange ChangeOf(TextCommand command) => command.Verb == MemcachedVerb.CompareAndSet
        ? new ObjectChange(
            MemcachedVerb.Set, command.Key, command.Value, command.Flags, command.Exptime, Version: command.Number)
        : new ObjectChange(
            command.Verb, command.Key, command.Value, command.Flags, command.Exptime, Delta: command.Number);

    private static string AnswerOf(MemcachedVerb verb, in ChangeResult result) => result.Outcome switch
    {
        ChangeOutcome.Done => verb switch
        {
            MemcachedVerb.Delete => "DELETED",
            MemcachedVerb.Touch => "TOUCHED",
            MemcachedVerb.Increment or MemcachedVerb.Decrement => result.Sum.ToString(CultureInfo.InvariantCulture),
            _ => "STORED",
        },
        ChangeOutcome.Absent when verb is MemcachedVerb.Replace or MemcachedVerb.Append or MemcachedVerb.Prepend =>
            "NOT_STORED",
        ChangeOutcome.Absent => "NOT_FOUND",
        ChangeOutcome.Exists => verb == MemcachedVerb.CompareAndSet ? "EXISTS" : "NOT_STORED",
        ChangeOutcome.NotANumber => "CLIENT_ERROR cannot increment or decrement non-numeric value",
        _ => ErrorOf(result.Outcome),
    };

    private static string ErrorOf(ChangeOutcome outcome) => ServerError
        + (outcome == ChangeOutcome.Contended ? MemcachedStore.Contended : MemcachedStore.UnknownOutcome);
}
