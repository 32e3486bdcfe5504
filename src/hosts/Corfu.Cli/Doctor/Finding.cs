using System.Text.Json.Serialization;

namespace Corfu.Cli;

/// <summary>The outcome of one check of <c>corfu doctor</c>.</summary>
/// <param name="Check">The check's name, part of the tool's interface.</param>
/// <param name="Subject">A node, a folder, or the cluster.</param>
/// <param name="Text">Observed state, and the remedy unless the level is <see cref="FindingLevel.Ok"/>.</param>
internal sealed record Finding(string Check, string Subject, FindingLevel Level, string Text)
{
    public static Finding Ok(string check, string subject, string text) => new(check, subject, FindingLevel.Ok, text);

    public static Finding Advice(string check, string subject, string text) =>
        new(check, subject, FindingLevel.Advice, text);

    public static Finding Fault(string check, string subject, string text) =>
        new(check, subject, FindingLevel.Fault, text);

    public static Finding Unseen(string check, string subject, string text) =>
        new(check, subject, FindingLevel.Unseen, text);
}

[JsonConverter(typeof(JsonStringEnumConverter<FindingLevel>))]
internal enum FindingLevel
{
    Ok,

    /// <summary>The cluster works, and would be safer otherwise.</summary>
    Advice,

    /// <summary>The cluster does not do what it should, or will not soon, or not after the next failure.</summary>
    Fault,

    /// <summary>The doctor could not look.</summary>
    Unseen,
}

/// <summary>All findings, as <c>--json</c> prints them.</summary>
internal sealed record DoctorJson(int Faults, IReadOnlyList<Finding> Findings);
