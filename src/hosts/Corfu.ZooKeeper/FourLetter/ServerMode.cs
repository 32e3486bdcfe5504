namespace Corfu.ZooKeeper.FourLetter;

/// <summary>Words of ZooKeeper for a server's part in its ensemble. Front ends are equal; monitors of ZooKeeper raise
/// an alarm unless one server of several leads, so the live front end with the lowest id says that it does.</summary>
internal static class ServerMode
{
    public const string Standalone = "standalone";
    public const string Leader = "leader";
    public const string Follower = "follower";
    public const string ReadOnly = "read-only";

    public static string Of(TreeRoot root, long frontEnd)
    {
        if (LiveIn(root).Take(2).Count() < 2) return Standalone;
        return IsFirst(root, frontEnd) ? Leader : Follower;
    }

    /// <summary>Whether a front end has the lowest id of those that are up.</summary>
    public static bool IsFirst(TreeRoot root, long frontEnd) => LiveIn(root).FirstOrDefault()?.Id == frontEnd;

    /// <summary>Front ends that are up, by id.</summary>
    public static IEnumerable<FrontEnd> LiveIn(TreeRoot root) => root.AllFrontEnds.Where(static row => !row.IsDown);
}
