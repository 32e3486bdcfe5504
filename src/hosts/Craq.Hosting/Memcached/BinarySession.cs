using System.Buffers;
using System.Buffers.Binary;
using System.IO.Pipelines;
using System.Text;

namespace Craq.Hosting.Memcached;

/// <summary>A connection in the binary protocol. Clients ask for many objects by quiet retrievals and a noop:
/// retrievals that came together are one read of the objects.</summary>
internal sealed class BinarySession(MemcachedStore store, int maxValue) : IMemcachedSession
{
    private readonly FrameReader _reader = new(maxValue);

    // Invariant: retrievals, and behind them at most one other command.
    private readonly List<BinaryCommand> _next = [];

    public bool TryRead(ref ReadOnlySequence<byte> buffer)
    {
        _next.Clear();
        while (_next.Count < MemcachedStore.KeysAtOnce && _reader.Read(ref buffer) is { } command)
        {
            _next.Add(command);
            if (!command.IsRetrieval) break;
        }

        return _next.Count > 0;
    }

    public async ValueTask<bool> ExecuteAsync(PipeWriter output, CancellationToken cancellationToken)
    {
        var last = _next[^1];
        if (!last.IsRetrieval) _next.RemoveAt(_next.Count - 1);
        if (_next.Count > 0) await GetAsync(output, cancellationToken);
        // Values are not held while the client sends nothing.
        _next.Clear();
        if (last.IsRetrieval) return true;
        if (last.Status != BinaryStatus.Ok) output.Error(last, last.Status);
        else if (last.Verb == MemcachedVerb.Quit) return Quit(last, output);
        else await ExecuteAsync(last, output, cancellationToken);
        return !last.IsMalformed;
    }

    private static bool Quit(BinaryCommand command, PipeWriter output)
    {
        if (!command.Form.IsQuiet) output.Answer(command);
        return false;
    }

    private async ValueTask GetAsync(PipeWriter output, CancellationToken cancellationToken)
    {
        try
        {
            var found = await store.GetAsync([.. _next.Select(command => command.Key)], cancellationToken);
            for (var i = 0; i < found.Length; i++)
            {
                output.Found(_next[i], found[i]);
                if (output.UnflushedBytes > maxValue) await output.FlushAsync(cancellationToken);
            }
        }
        catch (CorfuException e)
        {
            // A read that was not confirmed is no miss, so quiet retrievals are answered as well.
            store.Failed();
            foreach (var command in _next) output.Error(command, StatusOf(e), e.Message);
        }
    }

    private async ValueTask ExecuteAsync(BinaryCommand command, PipeWriter output, CancellationToken cancellationToken)
    {
        try
        {
            switch (command.Verb)
            {
                case MemcachedVerb.Noop or MemcachedVerb.Verbosity:
                    output.Answer(command);
                    break;
                case MemcachedVerb.Version:
                    output.Answer(command, value: Encoding.UTF8.GetBytes(MemcachedCounters.Version));
                    break;
                case MemcachedVerb.Stats:
                    foreach (var (name, value) in store.Stats)
                        output.Answer(command, key: Encoding.UTF8.GetBytes(name), value: Encoding.UTF8.GetBytes(value));
                    output.Answer(command);
                    break;
                case MemcachedVerb.FlushAll:
                    var flushed = await store.FlushAsync(command.Exptime, cancellationToken);
                    Answer(command, new ChangeResult(flushed), output);
                    break;
                case MemcachedVerb.GetAndTouch:
                    var (outcome, found) =
                        await store.GetAndTouchAsync(command.Key, command.Exptime, cancellationToken);
                    if (outcome is ChangeOutcome.Done or ChangeOutcome.Absent) output.Found(command, found);
                    else Answer(command, new ChangeResult(outcome), output);
                    break;
                default:
                    Answer(command, await store.ChangeAsync(ChangeOf(command), cancellationToken), output);
                    break;
            }
        }
        catch (CorfuException e)
        {
            store.Failed();
            output.Error(command, StatusOf(e), e.Message);
        }
    }

    // The version 0 is any. Touch compares none, as in memcached.
    private static ObjectChange ChangeOf(BinaryCommand command) => new(command.Verb, command.Key, command.Value,
        command.Flags, command.Exptime,
        command.Header.Version == 0 || command.Verb == MemcachedVerb.Touch ? null : command.Header.Version,
        command.Delta, command.Initial);

    private static void Answer(BinaryCommand command, in ChangeResult result, PipeWriter output)
    {
        if (result.Outcome != ChangeOutcome.Done)
        {
            output.Error(command, StatusOf(command.Verb, result.Outcome), TextOf(result.Outcome));
            return;
        }

        if (command.Form.IsQuiet) return;
        // As in memcached, an object that is gone has no version.
        var version = command.Verb == MemcachedVerb.Delete ? default : result.Version;
        Span<byte> sum = stackalloc byte[sizeof(ulong)];
        BinaryPrimitives.WriteUInt64BigEndian(sum, result.Sum);
        var isCounter = command.Verb is MemcachedVerb.Increment or MemcachedVerb.Decrement;
        output.Answer(command, BinaryStatus.Ok, version, value: isCounter ? sum : default);
    }

    private static BinaryStatus StatusOf(MemcachedVerb verb, ChangeOutcome outcome) => outcome switch
    {
        ChangeOutcome.Absent when verb is MemcachedVerb.Append or MemcachedVerb.Prepend => BinaryStatus.NotStored,
        ChangeOutcome.Absent => BinaryStatus.NotFound,
        ChangeOutcome.Exists => BinaryStatus.Exists,
        ChangeOutcome.NotANumber => BinaryStatus.NotANumber,
        ChangeOutcome.Contended => BinaryStatus.TemporaryFailure,
        _ => BinaryStatus.InternalError,
    };

    private static BinaryStatus StatusOf(CorfuException e) => e switch
    {
        EntryTooLargeException => BinaryStatus.TooLarge,
        CraqUnavailableException => BinaryStatus.TemporaryFailure,
        _ => BinaryStatus.InternalError,
    };

    // Null: the status says all.
    private static string? TextOf(ChangeOutcome outcome) => outcome switch
    {
        ChangeOutcome.Unknown => MemcachedStore.UnknownOutcome,
        ChangeOutcome.Contended => MemcachedStore.Contended,
        _ => null,
    };
}
