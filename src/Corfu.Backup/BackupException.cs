using Corfu.Protocol;

namespace Corfu.Backup;

/// <summary>A backup, a restore or a promotion is refused or cannot go on; the message says what to do. Nothing was
/// lost.</summary>
public class BackupException(string message, Exception? inner = null) : CorfuException(message, inner);
