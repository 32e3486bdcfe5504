using System.Globalization;
using Tango;
using Tango.ZooKeeper;

namespace Corfu.Cli;

/// <summary>A moment of the log at which a tree is read: a position, a zxid or a time; by default the tail.</summary>
internal readonly record struct TreeMoment(LogPosition? Position, DateTimeOffset? Time)
{
    // Z1: a zxid is the position of its entry, and the index of the record there.
    private const int IndexBits = 16;

    public static Option<TreeMoment> NewOption() => new("--at")
    {
        Description = "The moment to show: a position of the log (all below it is applied), a zxid as 0x1a20000 (the "
            + "entry that holds it is applied whole), a time as 2026-11-27T19:00:00Z, or 'latest'.",
        HelpName = "P|ZXID|TIME|latest",
        CustomParser = result =>
        {
            var text = result.Tokens[0].Value;
            if (TryParse(text, out var moment)) return moment;
            result.AddError($"'{text}' is no moment: a position as 1042, a zxid as 0x1a20000, a time with its zone as "
                + "2026-11-27T19:00:00Z, or 'latest'.");
            return default;
        },
    };

    /// <summary>Opens the tree of a service as it was.</summary>
    /// <exception cref="TangoObjectNotFoundException">There was no such tree.</exception>
    /// <exception cref="TangoTrimmedException">The log is trimmed further.</exception>
    public async Task<PastTree> OpenAsync(
        CorfuClient client, TangoRuntime runtime, string service, CancellationToken cancellationToken)
    {
        var history = Time is { } time
            ? await runtime.History.OpenAsync(time, cancellationToken)
            : await runtime.History.OpenAsync(
                Position ?? (await client.CheckAsync([], ReadConsistency.Linearizable, cancellationToken)).Tail,
                cancellationToken);
        return new PastTree(history, service);
    }

    private static bool TryParse(string text, out TreeMoment moment)
    {
        moment = default;
        if (text == "latest") return true;
        if (text.StartsWith("0x", StringComparison.Ordinal))
        {
            var isZxid = long.TryParse(
                text.AsSpan(2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var zxid) && zxid > 0;
            moment = new TreeMoment(new LogPosition((zxid >> IndexBits) + 1), null);
            return isZxid;
        }

        if (LogPosition.TryParse(text, out var position))
        {
            moment = new TreeMoment(position, null);
            return true;
        }

        // A time without its zone would be another one on each machine.
        const string Zones = "yyyy-MM-dd'T'HH:mm:ss.FFFFFFFK";
        var isTime = DateTime.TryParseExact(text, Zones, CultureInfo.InvariantCulture,
            DateTimeStyles.RoundtripKind, out var parsed) && parsed.Kind != DateTimeKind.Unspecified;
        moment = new TreeMoment(null, isTime ? new DateTimeOffset(parsed) : null);
        return isTime;
    }
}
