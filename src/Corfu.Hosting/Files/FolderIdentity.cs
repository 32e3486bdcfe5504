using Corfu.Protocol;

namespace Corfu.Hosting;

/// <summary>What <c>identity.json</c> in a role's folder says, written when it was formatted (R2).</summary>
internal sealed record FolderIdentity(int Format, Guid Cluster, NodeRole Role, Guid Id)
{
    public const int CurrentFormat = 1;
}
