using Corfu.WebConsole.Collecting;

namespace Corfu.WebConsole.Views;

/// <summary>How something is, beside the words that say it.</summary>
public enum Tone
{
    Unknown,
    Good,
    Warn,
    Bad,
    Quiet,
}

/// <summary>Short words for states of the cluster, of processes and of roles.</summary>
public static class Wording
{
    public static (Tone Tone, string Word, string Detail) Of(ClusterPicture picture)
    {
        if (picture.Verdict is not { } verdict) return (Tone.Unknown, "UNKNOWN", "no process has answered yet");
        if (picture.Projection is not null && !picture.HasMajority)
            return (Tone.Unknown, "UNKNOWN", "no majority of acceptors answers here");
        var text = verdict.ToString();
        var colon = text.IndexOf(':', StringComparison.Ordinal);
        var word = verdict switch
        {
            { MirrorOf.IsNone: false } => "MIRROR",
            _ => text[..colon],
        };
        var tone = word switch { "OK" => Tone.Good, "DOWN" => Tone.Bad, _ => Tone.Warn };
        var rest = word switch
        {
            "OK" or "DEGRADED" => "appends succeed",
            "DOWN" => "appends do not succeed",
            _ => "takes no appends",
        };
        return (tone, word, rest);
    }

    public static Tone Of(NodeHealth health) => health switch
    {
        NodeHealth.Alive => Tone.Good,
        NodeHealth.Slow or NodeHealth.Full or NodeHealth.Leaving or NodeHealth.Partitioned or NodeHealth.Silent =>
            Tone.Warn,
        NodeHealth.Dead or NodeHealth.Replaced or NodeHealth.Failed => Tone.Bad,
        _ => Tone.Unknown,
    };

    public static string Word(NodeHealth health) => health.ToString().ToLowerInvariant();

    public static string Word(NodeRole role) => role.ToString().ToLowerInvariant();
}
