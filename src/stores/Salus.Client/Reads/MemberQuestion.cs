namespace Salus.Reads;

internal enum Judgment
{
    /// <summary>The answer is verified.</summary>
    Good,

    /// <summary>The answer is not what the tree says: the member is accused.</summary>
    Wrong,

    /// <summary>The blocks have changed since the question: nothing is said about the member.</summary>
    Changed,

    /// <summary>The member cannot answer.</summary>
    Unable,
}

/// <summary>A question that any member of a region may answer, and how its answer is verified.</summary>
internal abstract class MemberQuestion<TResponse>(RegionKey region)
    where TResponse : Response
{
    public RegionKey Region => region;

    /// <summary>The question, for people.</summary>
    public abstract string What { get; }

    public abstract Request<TResponse> At(Epoch generation);

    /// <summary>Touches nothing of the caller's: another member may have answered first.</summary>
    public abstract Judgment Judge(TResponse response);
}
