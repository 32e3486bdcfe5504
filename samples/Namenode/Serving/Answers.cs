namespace NamenodeSample.Serving;

/// <summary>First words of answers. The id of an edit follows, and the result.</summary>
internal static class Answers
{
    /// <summary>The operation is that edit.</summary>
    public const string Done = "done";

    /// <summary>The operation is that edit, and was sent before.</summary>
    public const string Before = "before";

    /// <summary>Refused, with all edits up to that one.</summary>
    public const string Refused = "refused";

    /// <summary>Read, with all edits up to that one.</summary>
    public const string Read = "read";

    /// <summary>This namenode is not the active: ask another.</summary>
    public const string Standby = "standby";
}
