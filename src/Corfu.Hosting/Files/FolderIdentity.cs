namespace Corfu.Hosting;

/// <summary>What <c>identity.json</c> in a role's folder says, written when it was formatted (R2).</summary>
/// <param name="Opened">Whether the role has ever served from it: from then on an empty folder is a loss.</param>
internal sealed record FolderIdentity(int Format, Guid Cluster, NodeRole Role, Guid Id, bool Opened)
{
    public const int CurrentFormat = 1;

    /// <summary>An epoch whose decided projection named the identity, or 0: what removal is told by (R2).</summary>
    public long Named { get; init; }
}
