namespace Corfu.Hosting;

/// <summary>The content of <c>identity.json</c> in a role's folder, written when the folder was formatted
/// (R2).</summary>
/// <param name="Role">As <see cref="INodeRole.Name"/>.</param>
/// <param name="Opened">Whether the role has ever served from it: from then on an empty folder is a loss.</param>
internal sealed record FolderIdentity(int Format, Guid Cluster, string Role, Guid Id, bool Opened)
{
    public const int CurrentFormat = 1;

    /// <summary>An epoch whose decided projection named the identity, or 0: what removal is told by (R2).</summary>
    public long Named { get; init; }
}
