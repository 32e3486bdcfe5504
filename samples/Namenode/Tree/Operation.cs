using System.Globalization;

namespace NamenodeSample.Tree;

/// <summary>Kind of an operation.</summary>
public enum Verb
{
    /// <summary>Changes nothing: an active asks its ledger whether it may still write.</summary>
    Mark,
    Mkdir,
    Create,

    /// <summary>Gives an open file its next block, of <see cref="Operation.Value"/> bytes.</summary>
    AddBlock,

    /// <summary>Closes a file: it gets no more blocks.</summary>
    Complete,

    /// <summary>Moves a file or a directory to <see cref="Operation.To"/>, which is free or is replaced: see
    /// <see cref="Options"/>.</summary>
    Rename,

    /// <summary>Deletes a file, or a directory with all below it: see <see cref="Options"/>.</summary>
    Delete,

    /// <summary>Sets the permission bits to <see cref="Operation.Value"/>.</summary>
    SetMode,

    /// <summary>Reads.</summary>
    Status,

    /// <summary>Sets the <see cref="Operation.Attributes"/> that are given.</summary>
    SetAttributes,
}

/// <summary>Options of a change, in <see cref="Operation.Value"/>.</summary>
[Flags]
public enum Options
{
    None = 0,

    /// <summary>Makes the directories above the path.</summary>
    Parents = 1,

    /// <summary>Takes the place of a file, or of an empty directory, in the same edit.</summary>
    Overwrite = 2,

    /// <summary>Deletes no directory that has something in it.</summary>
    OnlyEmpty = 4,
}

/// <summary>Attributes of a file or directory; null: left alone. Times are milliseconds since 1970, by the clock of the
/// namenode or client that began the change: replay must not read a clock.</summary>
[MessagePackObject]
public sealed record Attributes(
    [property: Key(0)] string? Owner = null, [property: Key(1)] string? Group = null,
    [property: Key(2)] int? Mode = null, [property: Key(3)] long? Modified = null,
    [property: Key(4)] long? Accessed = null);

/// <summary>A client's request: four words as text, which has no attributes.</summary>
[MessagePackObject]
public sealed record Operation(
    [property: Key(0)] Verb Verb, [property: Key(1)] string Path, [property: Key(2)] string To = Operation.None,
    [property: Key(3)] long Value = 0, [property: Key(4)] Attributes? Attributes = null)
{
    public const string None = "-";

    public static Operation Parse(ReadOnlySpan<string> words) => new(
        Enum.Parse<Verb>(words[0]), words[1], words[2], long.Parse(words[3], CultureInfo.InvariantCulture));

    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Verb} {Path} {To} {Value}");
}

/// <summary>Why an operation was refused: nothing has changed.</summary>
public enum Refusal
{
    BadPath,
    NotFound,
    NoParent,
    NotADirectory,
    NotAFile,
    Exists,
    IntoItself,
    IsComplete,
    NotEmpty,

    /// <summary>A path would have more names or characters than <see cref="Paths"/> allow.</summary>
    TooLong,
}

/// <summary>Outcome of an operation.</summary>
/// <param name="Text">The result, or the <see cref="Refusal"/>.</param>
public sealed record Outcome(bool IsDone, string Text)
{
    /// <summary>Null: the operation is done.</summary>
    public Refusal? Refusal => IsDone ? null : Enum.Parse<Refusal>(Text);

    public static Outcome Done(long result) => new(true, result.ToString(CultureInfo.InvariantCulture));

    public static Outcome Refused(Refusal refusal) => new(false, refusal.ToString());
}
