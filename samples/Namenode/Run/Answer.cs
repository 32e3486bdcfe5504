using NamenodeSample.Tree;

namespace NamenodeSample.Run;

/// <summary>An answer that a client has heard.</summary>
/// <param name="Kind">First word; see <see cref="Serving.Answers"/>.</param>
/// <param name="Id">The edit; of what was refused or read, the last edit before.</param>
/// <param name="Known">The highest edit that any client had heard of before the operation was begun.</param>
/// <param name="By">The namenode.</param>
internal sealed record Answer(
    string Client, long Number, Operation Operation, string Kind, long Id, string Text, long Known, string By)
{
    public override string ToString() => $"{Client}/{Number} {Operation}: {Kind} {Id} {Text} by {By}";
}
