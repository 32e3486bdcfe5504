namespace Corfu.Checkers;

/// <summary>Finding of a checker: the checker's name is what a planted bug is matched with.</summary>
public sealed record Violation(string Checker, string What)
{
    public override string ToString() => $"[{Checker}] {What}";
}
