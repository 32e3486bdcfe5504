using System.Globalization;
using System.IO.Pipelines;

namespace Craq.Hosting.Memcached;

/// <summary>Carries out the commands of one connection, in their order. The version of an object is its <c>cas</c>. An
/// outcome that is not known is an error of the server, never a guess.</summary>
internal sealed class TextSession(MemcachedStore store, MemcachedCounters counters, TimeProvider time)
{
    // As in memcached: longer times are dates.
    private const long LongestDelay = 60 * 60 * 24 * 30;

    // A retrieval holds at most the values of so many keys at once, however many a line names.
    private const int KeysAtOnce = 32;

    private const string UnknownOutcome =
        "SERVER_ERROR the outcome of the write is unknown: it may have been applied, or be applied later";

    /// <summary>Executes one command and writes its answer.</summary>
    public async ValueTask ExecuteAsync(TextCommand command, PipeWriter output, CancellationToken cancellationToken)
    {
        try
        {
            var answer = command.Error ?? command.Verb switch
            {
                TextVerb.Get or TextVerb.Gets => await GetAsync(command, output, cancellationToken),
                TextVerb.GetAndTouch or TextVerb.GetsAndTouch =>
                    await GetAndTouchAsync(command, output, cancellationToken),
                TextVerb.Version => "VERSION " + CorfuNode.Build,
                TextVerb.Verbosity => "OK",
                TextVerb.Stats => Stats(output),
                TextVerb.FlushAll => await FlushAsync(command, cancellationToken),
                TextVerb.Increment or TextVerb.Decrement => await CountAsync(command, cancellationToken),
                _ => await WriteAsync(command, cancellationToken),
            };
            if (!command.NoReply) output.Line(answer);
        }
        catch (CorfuException e)
        {
            // A retrieval may have written values by then: the error ends it in place of END.
            counters.Failed();
            if (!command.NoReply) output.Line("SERVER_ERROR " + e.Message);
        }
    }

    private async ValueTask<string> GetAsync(
        TextCommand command, PipeWriter output, CancellationToken cancellationToken)
    {
        for (var first = 0; first < command.Keys.Length; first += KeysAtOnce)
        {
            if (first > 0) await output.FlushAsync(cancellationToken);
            var keys = command.Keys.Length <= KeysAtOnce
                ? command.Keys
                : command.Keys.Slice(first, Math.Min(KeysAtOnce, command.Keys.Length - first));
            var objects = await store.Objects.GetManyAsync(keys, cancellationToken: cancellationToken);
            for (var i = 0; i < objects.Length; i++)
            {
                counters.Got(objects[i].IsFound);
                if (objects[i].IsFound) output.Value(keys[i], objects[i], command.Verb == TextVerb.Gets);
            }
        }

        return "END";
    }

    // The object is read in the step that gives it the new expiry, so that the version is the one which it has then.
    private async ValueTask<string> GetAndTouchAsync(
        TextCommand command, PipeWriter output, CancellationToken cancellationToken)
    {
        for (var i = 0; i < command.Keys.Length; i++)
        {
            if (i > 0 && i % KeysAtOnce == 0) await output.FlushAsync(cancellationToken);
            var key = command.Keys[i];
            var result = await store.Objects.MutateAsync(
                new MutateBuilder().Read(key).Touch(key, ExpiryOf(command.Exptime)), cancellationToken);
            if (result.Outcome == WriteOutcome.Unknown)
            {
                // An unknown outcome is no miss.
                counters.Wrote(result.Outcome);
                return UnknownOutcome;
            }

            counters.Got(result.IsWritten);
            if (!result.IsWritten) continue;
            output.Value(key, result.Reads[0].At(result.Version), command.Verb == TextVerb.GetsAndTouch);
        }

        return "END";
    }

    private async ValueTask<string> WriteAsync(TextCommand command, CancellationToken cancellationToken)
    {
        var (key, value, expiry) = (command.Key, command.Value, ExpiryOf(command.Exptime));
        var builder = new MutateBuilder();
        switch (command.Verb)
        {
            case TextVerb.Set:
                builder.Put(key, value, command.Flags, expiry);
                break;
            case TextVerb.Add:
                builder.IfAbsent(key).Put(key, value, command.Flags, expiry);
                break;
            case TextVerb.Replace:
                builder.IfExists(key).Put(key, value, command.Flags, expiry);
                break;
            case TextVerb.CompareAndSet:
                // No object has a version above these.
                var version = new ObjectVersion((long)Math.Min(command.Number, long.MaxValue));
                builder.IfExists(key).IfVersion(key, version).Put(key, value, command.Flags, expiry);
                break;
            case TextVerb.Append:
                builder.Append(key, value);
                break;
            case TextVerb.Prepend:
                builder.Prepend(key, value);
                break;
            case TextVerb.Delete:
                builder.Delete(key);
                break;
            case TextVerb.Touch:
                builder.Touch(key, expiry);
                break;
            default:
                return TextParser.UnknownCommand;
        }

        var result = await store.Objects.MutateAsync(builder, cancellationToken);
        counters.Wrote(result.Outcome);
        return result.Outcome switch
        {
            WriteOutcome.Unknown => UnknownOutcome,
            WriteOutcome.Written => command.Verb switch
            {
                TextVerb.Delete => "DELETED",
                TextVerb.Touch => "TOUCHED",
                _ => "STORED",
            },
            _ => command.Verb switch
            {
                TextVerb.Delete or TextVerb.Touch => "NOT_FOUND",
                TextVerb.CompareAndSet => result.MismatchIndex == 0 ? "NOT_FOUND" : "EXISTS",
                _ => "NOT_STORED",
            },
        };
    }

    private async ValueTask<string> CountAsync(TextCommand command, CancellationToken cancellationToken)
    {
        var builder = new MutateBuilder().IfExists(command.Key);
        // A delta above 2^63 takes two steps of one mutation: both wrap, or stop at 0, as one would.
        for (var left = command.Number; ; left -= long.MaxValue)
        {
            var step = (long)Math.Min(left, long.MaxValue);
            builder.Add(command.Key, command.Verb == TextVerb.Increment ? step : -step);
            if (left <= long.MaxValue) break;
        }

        var result = await store.Objects.MutateAsync(builder, cancellationToken);
        counters.Wrote(result.Outcome);
        return result.Outcome switch
        {
            WriteOutcome.Written => result.Sums[^1].ToString(CultureInfo.InvariantCulture),
            WriteOutcome.Unknown => UnknownOutcome,
            _ => result.MismatchIndex == 0
                ? "NOT_FOUND"
                : "CLIENT_ERROR cannot increment or decrement non-numeric value",
        };
    }

    private async ValueTask<string> FlushAsync(TextCommand command, CancellationToken cancellationToken)
    {
        var delay = ExpiryOf(command.Exptime) is { } at ? at - time.GetUtcNow() : TimeSpan.Zero;
        if (delay > TimeSpan.Zero)
        {
            store.FlushLater(delay);
            return "OK";
        }

        var result = await store.Objects.ClearAsync(cancellationToken);
        return result.IsWritten ? "OK" : UnknownOutcome;
    }

    private string Stats(PipeWriter output)
    {
        foreach (var (name, value) in counters.Read(time)) output.Line($"STAT {name} {value}");
        return "END";
    }

    // Null: never.
    private DateTimeOffset? ExpiryOf(long exptime) => exptime switch
    {
        0 => null,
        < 0 => DateTimeOffset.UnixEpoch,
        <= LongestDelay => time.GetUtcNow().AddSeconds(exptime),
        _ => DateTimeOffset.FromUnixTimeSeconds(Math.Min(exptime, DateTimeOffset.MaxValue.ToUnixTimeSeconds())),
    };
}
